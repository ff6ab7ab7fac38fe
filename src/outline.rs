//! A template as an indented outline of text.

use std::io::{self, Write};

use dehusk_template::template::{Template, TemplateNode};

/// Writes where the template comes from and how large it is.
pub fn write_summary(template: &Template, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "site       {}", template.host)?;
    writeln!(out, "key page   {}", template.key_url)?;
    let (loads, n, m) = (template.loads, template.n_wanted, template.n_voters);
    let role = if template.training_set.is_some() { "training   " } else { "voters     " };
    for (at, voter) in template.voters.iter().enumerate() {
        writeln!(out, "{}{voter}", if at == 0 { role } else { "           " })?;
    }
    match &template.training_set {
        Some(set) => {
            let extra = set.n_pages().saturating_sub(m + 1);
            writeln!(out, "learned    {loads} pages loaded, {m} of {n} training pages and {extra} extra pages")?;
        }
        None => {
            writeln!(out, "learned    {loads} pages loaded, {m} of {n} voted, {} votes needed", template.min_votes)?
        }
    }
    if let Some(set) = template.training_set() {
        let sizes: Vec<String> = set.kinds().sizes.iter().map(usize::to_string).collect();
        writeln!(out, "kinds      {}: {} training pages", sizes.len(), sizes.join(" and "))?;
    }
    if let Some(subdigraph) = &template.subdigraph {
        let n_members = subdigraph.members.len();
        let (votes, agreed) = (subdigraph.n_template, subdigraph.n_agreed);
        writeln!(
            out,
            "subdigraph {n_members} of them link to each other; {} votes make a node template: {votes} nodes, {agreed} of \
             them template here",
            subdigraph.min_votes
        )?;
        for url in subdigraph.members.iter().filter_map(|member| template.voters.get(*member)) {
            writeln!(out, "           {url}")?;
        }
    }
    writeln!(
        out,
        "template   {} of {} nodes, {} of them text{}",
        template.n_nodes(),
        template.key_nodes,
        template.n_texts(),
        if template.approximate { " (long lists mapped approximately)" } else { "" }
    )
}

/// Writes the summary, then every node with its votes or the number of training pages that have it. Nodes in brackets
/// are the page's own. A slot (…) is a node with own text or own children. With `votes`, a second column has the votes
/// of the complete subdigraph.
pub fn write_outline(template: &Template, votes: bool, out: &mut impl Write) -> io::Result<()> {
    write_summary(template, out)?;
    writeln!(out)?;
    let mut depths: Vec<usize> = Vec::with_capacity(template.nodes.len());
    let mut n_kept = vec![0_u32; template.nodes.len()];
    for node in template.nodes.iter().skip(1) {
        n_kept[node.parent as usize] += 1;
    }
    for (at, node) in template.nodes.iter().enumerate() {
        let depth = if at == 0 { 0 } else { depths.get(node.parent as usize).map_or(0, |d| d + 1) };
        depths.push(depth);
        let slot = if n_kept[at] < node.n_children { "  …" } else { "" };
        let indent = "  ".repeat(depth.min(40));
        let cast = if votes { format!("{:>3}  ", node.subdigraph_votes) } else { String::new() };
        // A node that is not template itself is there for the template nodes below it.
        if node.own {
            writeln!(out, "    {cast}{indent}({}){slot}", label(node))?
        } else {
            writeln!(out, "{:>2}  {cast}{indent}{}{slot}", node.votes, label(node))?
        }
    }
    Ok(())
}

fn label(node: &TemplateNode) -> String {
    if node.tag == "#text" {
        let shown: String = node.sample.chars().filter(|c| !c.is_control()).collect();
        return format!("\"{shown}\"");
    }
    let mut label = node.tag.clone();
    if !node.id.is_empty() {
        label.push('#');
        label.push_str(&node.id);
    }
    for class in &node.classes {
        label.push('.');
        label.push_str(class);
    }
    label
}
