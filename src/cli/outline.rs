//! A template as an indented outline.

use std::io::{self, Write};

use crate::template::{Template, TemplateNode};

/// What was learned, then every node with its votes; a slot is a place whose text or children are the page's own.
pub(super) fn write_outline(template: &Template, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "site       {}", template.host)?;
    writeln!(out, "key page   {}", template.key_url)?;
    for (at, voter) in template.voters.iter().enumerate() {
        writeln!(out, "{}{voter}", if at == 0 { "voters     " } else { "           " })?;
    }
    writeln!(
        out,
        "learned    {} pages loaded, {} of {} voted, {} votes needed",
        template.loads, template.m, template.n, template.t
    )?;
    writeln!(
        out,
        "template   {} of {} nodes, {} of them text{}\n",
        template.n_nodes(),
        template.key_nodes,
        template.n_texts(),
        if template.approximate { " (long lists mapped approximately)" } else { "" }
    )?;
    let mut depths: Vec<usize> = Vec::with_capacity(template.nodes.len());
    let mut n_kept = vec![0_u32; template.nodes.len()];
    for node in template.nodes.iter().skip(1) {
        n_kept[node.parent as usize] += 1;
    }
    for (at, node) in template.nodes.iter().enumerate() {
        let depth = if at == 0 { 0 } else { depths.get(node.parent as usize).map_or(0, |d| d + 1) };
        depths.push(depth);
        let slot = if n_kept[at] < node.n_children { "  …" } else { "" };
        writeln!(out, "{:>2}  {}{}{slot}", node.votes, "  ".repeat(depth.min(40)), label(node))?;
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
