//! JSON-LD with the vocabulary of schema.org.

use serde_json::{Map, Value};

use super::found::{FoundFacts, Source, fact};
use super::json_repair;
use super::title::ShownTitles;
use dehusk_html::PageUrl;
use dehusk_html::{ScriptKind, Tree};

/// Bytes of JSON-LD that are read of a page.
const MOST_BYTES: usize = 2_000_000;

/// Objects that are looked at.
const MOST_OBJECTS: usize = 2000;

type Object = Map<String, Value>;

pub(super) fn read(tree: &Tree, url: Option<&PageUrl>, titles: &ShownTitles, found: &mut FoundFacts) {
    let mut budget = MOST_BYTES;
    let mut values = Vec::new();
    for (_, _, _, text) in tree.data_scripts().filter(|(kind, ..)| *kind == ScriptKind::JsonLd) {
        if text.len() <= budget {
            budget -= text.len();
            values.extend(parse(text));
        }
    }
    let mut objects = Vec::new();
    values.iter().for_each(|value| collect(value, &mut objects));
    if let Some(site) = objects.iter().find(|object| types(object).any(|name| name == "WebSite")) {
        push_text(site.get("name"), &mut found.site_names);
    }
    for object in objects.iter().filter(|object| types(object).any(is_organization)) {
        push_text(object.get("name"), &mut found.organizations);
    }
    let Some(main) = main_object(&objects, url, titles) else { return };
    let by_id = |id: &str| objects.iter().copied().find(|object| text(object.get("@id")).as_deref() == Some(id));
    let resolve = |value: &Value| match value.as_object() {
        Some(object) if !object.contains_key("name") => text(object.get("@id"))
            .and_then(|id| by_id(&id))
            .map_or_else(|| value.clone(), |o| Value::Object(o.clone())),
        _ => value.clone(),
    };
    for name in ["headline", "name"] {
        push_text(main.get(name), &mut found.titles);
    }
    for name in ["datePublished", "dateCreated", "uploadDate"] {
        push_text(main.get(name), &mut found.published);
    }
    push_text(main.get("dateModified"), &mut found.modified);
    push_text(main.get("description"), &mut found.descriptions);
    push_text(main.get("inLanguage"), &mut found.languages);
    push_text(main.get("license"), &mut found.licences);
    for author in list(main.get("author").or_else(|| main.get("creator"))) {
        let author = resolve(author);
        push_text(Some(&author), &mut found.authors);
        if author.as_object().is_some_and(|author| types(author).any(is_organization)) {
            push_text(Some(&author), &mut found.organizations);
        }
    }
    for keywords in list(main.get("keywords")) {
        push_text(Some(keywords), &mut found.tags);
    }
    for image in list(main.get("image").or_else(|| main.get("thumbnailUrl"))).take(1) {
        push_address(&resolve(image), &mut found.images);
    }
    if let Some(publisher) = list(main.get("publisher")).next() {
        push_text(Some(&resolve(publisher)), &mut found.site_names);
    }
    if let Some(kind) = types(main).next() {
        found.kinds.push(fact(kind, Source::JsonLd));
    }
}

/// What programs put around the JSON of a script, so that older parsers of HTML or XML do not read it.
const WRAPPERS: [(&str, &str); 4] =
    [("<!--", "-->"), ("//<![CDATA[", "//]]>"), ("/*<![CDATA[*/", "/*]]>*/"), ("<![CDATA[", "]]>")];

/// The text within its wrappers.
fn unwrapped(text: &str) -> &str {
    let trimmed = |text: &'_ str| -> usize { text.trim_end().trim_end_matches(';').trim_end().len() };
    let mut text = text.trim();
    loop {
        text = text[..trimmed(text)].trim_start();
        let inner = WRAPPERS.iter().find_map(|(start, end)| Some((text.strip_prefix(start)?, end)));
        let Some((inner, end)) = inner else { return text };
        let inner = inner.trim_end();
        text = inner.strip_suffix(end).unwrap_or(inner);
    }
}

/// The value of a script, also where it has comments, line breaks in strings or a semicolon at the end.
fn parse(text: &str) -> Option<Value> {
    let text = unwrapped(text);
    let strict = serde_json::from_str(text).ok();
    strict.or_else(|| {
        let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        // Several values one after the other: the first one that can be read.
        let first = |text: &str| serde_json::Deserializer::from_str(text).into_iter::<Value>().next()?.ok();
        first(&plain).or_else(|| first(&json_repair::repaired(&plain)))
    })
}

/// The objects of a value and of its graph, and what they are about.
fn collect<'v>(value: &'v Value, objects: &mut Vec<&'v Object>) {
    if objects.len() >= MOST_OBJECTS {
        return;
    }
    match value {
        Value::Array(values) => values.iter().for_each(|value| collect(value, objects)),
        Value::Object(object) => {
            objects.push(object);
            for name in ["@graph", "mainEntity", "mainEntityOfPage"] {
                // The questions of a page of questions are its parts.
                let is_part = name == "mainEntity" && types(object).any(|name| name == "FAQPage");
                if let Some(inner) = object.get(name).filter(|_| !is_part) {
                    collect(inner, objects);
                }
            }
        }
        _ => {}
    }
}

fn types(object: &Object) -> impl Iterator<Item = &str> {
    let names = list(object.get("@type")).filter_map(Value::as_str);
    names.map(|name| name.rsplit(['/', ':']).next().unwrap_or(name))
}

/// The object that the page is about, by its type; where several could be, the one with the page's address or title.
fn main_object<'v>(objects: &[&'v Object], url: Option<&PageUrl>, titles: &ShownTitles) -> Option<&'v Object> {
    let is_here = |object: &Object| {
        let named = ["url", "@id", "mainEntityOfPage"].iter().filter_map(|name| object.get(*name));
        let addresses = named.filter_map(|value| text(Some(value)).or_else(|| text(value.get("@id"))));
        url.is_some_and(|url| addresses.filter_map(|address| url.join(&address)).any(|named| named == *url))
    };
    let is_titled = |object: &Object| {
        ["headline", "name"].iter().filter_map(|name| text(object.get(*name))).any(|name| titles.agree_with(&name))
    };
    (0..=OTHER).find_map(|rank| {
        let of_rank = || objects.iter().copied().filter(|object| types(object).map(self::rank).min() == Some(rank));
        let titled = || of_rank().find(|object| is_titled(object));
        match rank {
            // Several articles or products are a list of others.
            ARTICLE | THING => of_rank()
                .find(|object| is_here(object))
                .or_else(titled)
                .or_else(|| of_rank().next().filter(|_| of_rank().count() == 1)),
            PAGE => of_rank().find(|object| is_here(object)).or_else(titled).or_else(|| of_rank().next()),
            // The site, its owner, a picture, a list: of the page only where they bear its title.
            _ => titled(),
        }
    })
}

/// How likely an object of a type is what the page is about; the smallest is the most likely.
type Rank = u8;

const ARTICLE: Rank = 0;
const THING: Rank = 1;
const PAGE: Rank = 2;
const OTHER: Rank = 3;

fn rank(name: &str) -> Rank {
    match name {
        name if name.ends_with("Article") || name.ends_with("Posting") => ARTICLE,
        "Recipe"
        | "Product"
        | "Event"
        | "Book"
        | "Movie"
        | "Course"
        | "Dataset"
        | "Review"
        | "Question"
        | "Report"
        | "SoftwareApplication"
        | "PodcastEpisode"
        | "HowTo"
        | "CreativeWork"
        | "Thesis" => THING,
        "WebPage" | "ItemPage" | "AboutPage" | "ProfilePage" | "FAQPage" | "QAPage" | "CollectionPage"
        | "ContactPage" => PAGE,
        _ => OTHER,
    }
}

/// Whether things of this type are organisations, or the site itself.
fn is_organization(name: &str) -> bool {
    name.ends_with("Organization")
        || name.ends_with("Business")
        || matches!(name, "WebSite" | "Corporation" | "Brand" | "NGO" | "Store")
}

fn list(value: Option<&Value>) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Some(Value::Array(values)) => Box::new(values.iter()),
        Some(value) => Box::new(std::iter::once(value)),
        None => Box::new(std::iter::empty()),
    }
}

/// The text of a value: a string, the name of an object, or the first of a list.
fn text(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
        Value::Object(object) => {
            let of = |name: &str| object.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
            let full_name = || Some(format!("{} {}", of("givenName")?, of("familyName")?));
            let named = ["name", "@value", "alternateName"].iter().find_map(|name| of(name)).map(str::to_owned);
            named.or_else(full_name)
        }
        Value::Array(values) => values.iter().find_map(|value| text(Some(value))),
        _ => None,
    }
}

fn push_text(value: Option<&Value>, to: &mut Vec<super::Fact>) {
    if let Some(text) = text(value) {
        to.push(fact(&text, Source::JsonLd));
    }
}

fn push_address(value: &Value, to: &mut Vec<super::Fact>) {
    let address = value.as_str().or_else(|| ["url", "contentUrl", "@id"].iter().find_map(|n| value.get(n)?.as_str()));
    if let Some(address) = address {
        to.push(fact(address, Source::JsonLd));
    }
}
