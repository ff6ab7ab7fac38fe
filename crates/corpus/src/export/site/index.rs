//! The index of a static copy: its sites, and the pages of each.

use std::io;
use std::path::Path;

use super::links::{escaped, relative};
use super::{Listed, STYLE};
use crate::export::places::write_whole;

/// Pages on one page of the index.
const PER_PAGE: usize = 1000;

/// File of a page of the index of a host.
fn list_of(host: &str, number: usize) -> String {
    match number {
        0 => format!("pages/{host}.html"),
        number => format!("pages/{host}-{}.html", number + 1),
    }
}

fn document(title: &str, body: &str) -> String {
    let title = escaped(title);
    format!(
        "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{title}</title><style>{STYLE}</style></head>\n<body><h1>{title}</h1>\n{body}\n</body></html>\n"
    )
}

/// The pages of a host, a thousand on a page.
pub(super) fn write_host(dir: &Path, host: &str, pages: &[Listed]) -> io::Result<()> {
    let n_lists = pages.len().div_ceil(PER_PAGE);
    for (number, chunk) in pages.chunks(PER_PAGE).enumerate() {
        let file = list_of(host, number);
        let mut body = format!("<p><a href=\"{}\">Index</a>", relative(&file, "index.html"));
        for other in (0..n_lists).filter(|_| n_lists > 1) {
            let (to, name) = (relative(&file, &list_of(host, other)), other + 1);
            body += &if other == number { format!(" · {name}") } else { format!(" · <a href=\"{to}\">{name}</a>") };
        }
        body += "</p>\n<ul>\n";
        for page in chunk {
            let (to, title) = (relative(&file, &page.path), escaped(&page.title));
            // Many pages have the title of another one.
            let address = page.url.split_once("://").map_or(page.url.as_str(), |(_, address)| address);
            let place = escaped(address.find('/').map_or("", |at| &address[at..]));
            body += &format!("<li><a href=\"{to}\">{title}</a> <span>{place}</span></li>\n");
        }
        write_whole(&dir.join(&file), document(host, &(body + "</ul>")).as_bytes())?;
    }
    Ok(())
}

/// The sites.
pub(super) fn write_root(dir: &Path, hosts: &[(String, usize)]) -> io::Result<()> {
    let row = |(host, n): &(String, usize)| {
        format!("<tr><td><a href=\"{}\">{}</a></td><td>{n}</td></tr>\n", relative("", &list_of(host, 0)), escaped(host))
    };
    let rows: String = hosts.iter().map(row).collect();
    let body = format!("<table><tr><th>Site</th><th>Pages</th></tr>\n{rows}</table>");
    write_whole(&dir.join("index.html"), document("Cleaned pages", &body).as_bytes())
}
