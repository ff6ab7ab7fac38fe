//! Data records of a page as rows: the answer of MDR (Liu 2003), and of TPS for lists of records (Velloso and Dorneles
//! 2013, section 4), whose main region holds them.
//!
//! A field is a text, a link or a picture of a record. Its column is the path of tags from the root of the record, so
//! that the same field of all records of a region has the same column; a path that occurs again in a record has a
//! number. Records of one region are found by MDR, within the main region for TPS.

use std::collections::HashMap;

use dehusk_html::{NodeId, PageUrl, Tree, base_url, normalized};

use crate::baselines::{DataRecord, data_records};
use dehusk_content::tps::{TpsOptions, by_tag_paths};

/// A record with its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRecord {
    /// Number of its region on the page, from 0.
    pub region: usize,
    /// Column and value, in document order.
    pub fields: Vec<(String, String)>,
}

/// The records of a page by MDR.
pub fn records_by_mdr(tree: &Tree, url: Option<&PageUrl>) -> Vec<PageRecord> {
    with_fields(tree, url, data_records(tree, &[]))
}

/// The records in the main region of a page by TPS. The region is taken, never the rest of the page.
pub fn records_by_tps(tree: &Tree, url: Option<&PageUrl>, how: &TpsOptions) -> Vec<PageRecord> {
    let labels = by_tag_paths(tree, &TpsOptions { complement: false, ..*how });
    with_fields(tree, url, data_records(tree, &labels.is_template))
}

fn with_fields(tree: &Tree, url: Option<&PageUrl>, records: Vec<DataRecord>) -> Vec<PageRecord> {
    let base = url.map(|url| base_url(tree, url));
    let record =
        |found: DataRecord| PageRecord { region: found.region, fields: fields(tree, base.as_ref(), found.nodes) };
    records.into_iter().map(record).filter(|record| !record.fields.is_empty()).collect()
}

fn fields(tree: &Tree, base: Option<&PageUrl>, nodes: std::ops::Range<usize>) -> Vec<(String, String)> {
    let above = tree.shape.parent[nodes.start];
    let mut paths: HashMap<usize, String> = HashMap::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut fields = Vec::new();
    let mut push = |column: String, value: String| {
        if value.is_empty() {
            return;
        }
        let n = seen.entry(column.clone()).or_default();
        *n += 1;
        fields.push((if *n == 1 { column } else { format!("{column}[{n}]") }, value));
    };
    for node in nodes {
        let (at, parent) = (NodeId::new(node), tree.shape.parent[node]);
        let path = paths.get(&(parent as usize)).filter(|_| parent != above);
        if tree.is_text(at) {
            push(path.cloned().unwrap_or_default(), normalized(tree.text(at)));
            continue;
        }
        let name = tree.name(at);
        let path = path.map_or_else(|| name.to_owned(), |path| format!("{path}/{name}"));
        let address = match name {
            "a" => tree.attr(at, "href").map(|href| ("href", href)),
            "img" => tree.attr(at, "src").map(|src| ("src", src)),
            _ => None,
        };
        if let Some((attribute, value)) = address {
            let whole = base.and_then(|base| base.join(value)).map(|url| url.as_str().to_owned());
            push(format!("{path}@{attribute}"), whole.unwrap_or_else(|| value.trim().to_owned()));
        }
        paths.insert(node, path);
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use dehusk_html::{ParseOptions, parse};

    #[test]
    fn records_are_rows_with_the_same_columns() {
        let item = |n: usize| {
            format!("<li><a href=/{n}>Item {n}</a><p><b>{n} kr</b> and <i>much</i> more</p><img src=p{n}.png></li>")
        };
        let items: String = (0..6).map(item).collect();
        let page = format!("<div><p>Menu</p></div><ul>{items}</ul><div><p>foot</p></div>");
        let tree = parse(&page, &ParseOptions::default());
        let url = PageUrl::parse("http://a.test/list/").unwrap();
        for records in [records_by_mdr(&tree, Some(&url)), records_by_tps(&tree, Some(&url), &TpsOptions::default())] {
            assert_eq!(records.len(), 6);
            let wanted: Vec<(String, String)> = [
                ("li/a@href", "http://a.test/4"),
                ("li/a", "Item 4"),
                ("li/p/b", "4 kr"),
                ("li/p", "and"),
                ("li/p/i", "much"),
                ("li/p[2]", "more"),
                ("li/img@src", "http://a.test/list/p4.png"),
            ]
            .map(|(column, value)| (column.to_owned(), value.to_owned()))
            .into();
            assert_eq!(records[4].fields, wanted);
            assert!(records.iter().all(|record| record.region == records[0].region));
        }
        assert!(records_by_mdr(&parse("<p>no list", &ParseOptions::default()), None).is_empty());
    }
}
