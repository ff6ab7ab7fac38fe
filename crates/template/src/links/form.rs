//! The form of a URL: a pattern that the URLs of one kind of page share.

use dehusk_html::PageUrl;

/// The directories with each number replaced by 0, the file extension, and the names of the query parameters. The
/// file name itself is included only for URLs with a query and for index pages.
pub fn form(url: &PageUrl) -> String {
    // Mirrors encode the query into the file name.
    let path = url.path().replace("%3F", "?");
    let (path, in_name) = path.split_once('?').unwrap_or((&path, ""));
    let query = url.as_str().split_once('?').map_or(in_name, |(_, query)| query);
    let (directory, name) = match path.strip_suffix('/') {
        Some(directory) => (directory.rsplit_once('/').map_or("", |(above, _)| above), "*/"),
        None => path.rsplit_once('/').unwrap_or(("", path)),
    };
    let name = match name.rsplit_once('.') {
        Some((stem, _)) if stem == "index" || !query.is_empty() => name.to_owned(),
        Some((_, ending)) => format!("*.{ending}"),
        None if name.ends_with('/') || !query.is_empty() => name.to_owned(),
        None => "*".to_owned(),
    };
    // The root has a form of its own.
    let name = if path == "/" { String::new() } else { name };
    let mut fields: Vec<&str> = query.split('&').filter_map(|field| field.split('=').next()).collect();
    fields.sort_unstable();
    let mut form = String::with_capacity(path.len());
    for c in directory.chars() {
        let c = if c.is_ascii_digit() { '0' } else { c };
        if c != '0' || !form.ends_with('0') {
            form.push(c);
        }
    }
    form + "/" + &name + "?" + &fields.join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_one_kind_have_one_form() {
        let of = |path: &str| form(&PageUrl::parse(&format!("http://s.com{path}")).unwrap());
        for (a, b) in [
            ("/2019/03/a-title/", "/2024/11/another/"),
            ("/docs/one.html", "/docs/two.html"),
            ("/show.php?id=3&page=2", "/show.php?page=9&id=1"),
            ("/show.php%3Fid=3.html", "/show.php%3Fid=17.html"),
            ("/a", "/b"),
        ] {
            assert_eq!(of(a), of(b));
        }
        for (a, b) in [
            ("/", "/about/"),
            ("/docs/index.html", "/docs/two.html"),
            ("/show.php?id=3", "/list.php?id=3"),
            ("/show.php?id=3", "/show.php?rate=3"),
            ("/tag/a/", "/a/"),
            ("/a", "/a.html"),
        ] {
            assert_ne!(of(a), of(b), "{a} {b}");
        }
    }
}
