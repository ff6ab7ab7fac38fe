//! `dehusk.extract`: one page, alone.

use pyo3::prelude::*;

use dehusk_core::corpus::{About, OptionalColumns};
use dehusk_html::{PageUrl, normalized};

use crate::cleaned::{PyCleaned, markdown_options};
use crate::html::MaybeHtml;
use crate::options::{Output, clean_options};

/// Gives the main content of one page, without knowledge of its site. None where nothing is left.
///
/// It takes the common arguments of `trafilatura.extract` and writes what `dehusk clean --alone` writes. A SiteModel
/// does better on every site of which there are two pages.
///
/// Args:
///     html: The page as str or bytes; None, NaN and files of other kinds, such as PDF, give None.
///     url: Its address. With one, links become absolute. One that is no address of http or https is left out.
///     output: "text", "markdown", "html", or "json", a row with all columns of `dehusk export`.
///     favor: "precision", "balanced" or "recall".
///     favor_precision: The same as favor="precision".
///     favor_recall: The same as favor="recall".
///     include_comments: Whether comments are kept.
///     include_tables: Whether tables are kept.
///     include_images: Whether Markdown has pictures.
///     include_links: Whether Markdown has links.
///     with_metadata: Whether Markdown begins with metadata as front matter. JSON always has them.
///     only_with_metadata: Whether a page without title, URL or day of publication gives None.
///     target_language: ISO 639-1 code. A page in another language gives None.
///     output_format: trafilatura's name of output; "txt" is "text".
///     content_type: The Content-Type header, which may name the encoding of bytes.
///
/// Raises:
///     ValueError: A value of an option is not known. No page and no address raises.
#[pyfunction]
#[pyo3(signature = (
    html, url = None, *, output = "text", favor = "balanced", favor_precision = false, favor_recall = false,
    include_comments = false, include_tables = true, include_images = true, include_links = true,
    with_metadata = false, only_with_metadata = false, target_language = None, output_format = None,
    content_type = None
))]
#[expect(clippy::too_many_arguments, clippy::fn_params_excessive_bools, reason = "the arguments of trafilatura")]
pub(crate) fn extract(
    py: Python<'_>,
    html: MaybeHtml,
    url: Option<&str>,
    output: &str,
    favor: &str,
    favor_precision: bool,
    favor_recall: bool,
    include_comments: bool,
    include_tables: bool,
    include_images: bool,
    include_links: bool,
    with_metadata: bool,
    only_with_metadata: bool,
    target_language: Option<&str>,
    output_format: Option<&str>,
    content_type: Option<&str>,
) -> PyResult<Option<String>> {
    let favor = match (favor_precision, favor_recall) {
        (true, false) => "precision",
        (false, true) => "recall",
        _ => favor,
    };
    let options = clean_options(if include_comments { "main+comments" } else { "main" }, favor)?;
    let (argument, name) = output_format.map_or(("output", output), |format| ("output_format", format));
    let output = Output::named(argument, name)?;
    let markdown = markdown_options(include_links, include_images);
    // `EN` and `en-GB` are English.
    let target_language = target_language.map(|tag| tag.split(['-', '_']).next().unwrap_or_default().to_lowercase());
    let target_language = target_language.as_ref();
    let Some(html) = html.0 else { return Ok(None) };
    py.detach(|| {
        let page = html.page(url.filter(|url| PageUrl::parse(url).is_ok()), content_type)?;
        let mut cleaned = PyCleaned::new(page, None, &options);
        if !include_tables {
            cleaned = cleaned.without("table");
        }
        let is_asked = only_with_metadata || target_language.is_some() || with_metadata;
        let record = is_asked.then(|| cleaned.record(About::default(), None, OptionalColumns::default(), &markdown));
        if let Some(record) = &record {
            let has = |name| record.get(name).is_some_and(|value| !matches!(value.to_json().as_str(), None | Some("")));
            if only_with_metadata && !["title", "url", "published"].into_iter().all(has) {
                return Ok(None);
            }
            if target_language.is_some_and(|language| record.text("language") != Some(language.as_str())) {
                return Ok(None);
            }
        }
        let written = match (record, output) {
            (Some(record), Output::Markdown) if with_metadata => record.to_note(),
            _ => cleaned.written(output, &markdown),
        };
        let is_empty = normalized(&cleaned.written(Output::Text, &markdown)).is_empty();
        Ok((!is_empty).then_some(written))
    })
}
