r"""`extract` and `bare_extraction` with the arguments, the outputs and the keys of trafilatura 2.

>>> from dehusk.trafilatura import extract
>>> page = "<nav>Home</nav><article><h1>Rye</h1><p>Rye is a grass, grown as a grain in the north and the east.</p>"
>>> extract(page, output_format="json", with_metadata=False)
'{"text": "Rye\\n\\nRye is a grass, grown as a grain in the north and the east.", "comments": ""}'

What is taken, and what is not, is in the table of the README. Everything else is as in `dehusk.extract`. A page never
raises, only an argument.
"""

from __future__ import annotations

import csv
import datetime
import io
import json
from collections.abc import Iterable
from typing import Any

import dehusk

__all__ = ["Document", "bare_extraction", "extract"]

#: The keys of trafilatura's documents, in its order.
KEYS = (
    "title",
    "author",
    "url",
    "hostname",
    "description",
    "sitename",
    "date",
    "categories",
    "tags",
    "fingerprint",
    "id",
    "license",
    "comments",
    "raw_text",
    "text",
    "language",
    "image",
    "pagetype",
    "filedate",
)


class Document:
    """What is known of a page, by the names of trafilatura. There is no tree: `body` and `commentsbody` are None."""

    __slots__ = (*KEYS, "body", "commentsbody")

    def __init__(self, values: dict[str, Any]) -> None:
        for name in self.__slots__:
            setattr(self, name, values.get(name))

    def as_dict(self) -> dict[str, Any]:
        """Gives the same as a dict."""
        return {name: getattr(self, name) for name in self.__slots__}

    def __repr__(self) -> str:
        return f"Document(title={self.title!r}, url={self.url!r})"


_FORMATS = ("txt", "markdown", "json", "csv", "html")


def extract(
    filecontent: Any,
    url: str | None = None,
    record_id: str | None = None,
    fast: bool = False,
    no_fallback: bool = False,
    favor_precision: bool = False,
    favor_recall: bool = False,
    include_comments: bool = True,
    output_format: str = "txt",
    tei_validation: bool = False,
    target_language: str | None = None,
    include_tables: bool = True,
    include_images: bool = False,
    include_formatting: bool | None = None,
    include_links: bool = False,
    deduplicate: bool = False,
    date_extraction_params: dict[str, Any] | None = None,
    with_metadata: bool = False,
    only_with_metadata: bool = False,
    max_tree_size: int | None = None,
    url_blacklist: Iterable[str] | None = None,
    author_blacklist: Iterable[str] | None = None,
    settingsfile: str | None = None,
    prune_xpath: str | list[str] | None = None,
    config: Any = None,
    options: Any = None,
) -> str | None:
    """Gives the main content of a page as a string, or None where nothing is left.

    Raises:
        ValueError: An output that is not written (xml, xmltei), or settings that cannot be followed.
    """
    if output_format not in _FORMATS:
        reason = "XML and TEI are not written" if output_format.startswith("xml") else "it is not known"
        raise ValueError(f"output_format: {output_format!r}: {reason}; expected {', '.join(_FORMATS)}")
    page = _page(filecontent, url, prune_xpath, max_tree_size, (settingsfile, config, options))
    if page is None:
        return None
    favor = _favor(favor_precision, favor_recall)
    document = _document(
        page, favor, include_comments, include_tables, target_language, deduplicate, record_id, only_with_metadata
    )
    if document is None or not _is_allowed(document, url_blacklist, author_blacklist):
        return None
    if output_format == "json":
        return json.dumps(_json(document, with_metadata), ensure_ascii=False)
    if output_format == "csv":
        return _csv(document)
    markdown = dehusk.extract(
        page,
        output="html" if output_format == "html" else "markdown",
        favor=favor,
        include_comments=include_comments,
        include_tables=include_tables,
        include_images=include_images,
        include_links=include_links,
        with_metadata=with_metadata and output_format != "html",
    )
    if output_format != "txt" or include_formatting:
        return markdown
    text = "\n".join(part for part in (document["text"], document["comments"]) if part)
    if not with_metadata or markdown is None:
        return text
    # The metadata are the front matter of the Markdown.
    return "---" + markdown.split("---", 2)[1] + "---\n" + text


def bare_extraction(
    filecontent: Any,
    url: str | None = None,
    fast: bool = False,
    no_fallback: bool = False,
    favor_precision: bool = False,
    favor_recall: bool = False,
    include_comments: bool = True,
    output_format: str = "python",
    target_language: str | None = None,
    include_tables: bool = True,
    include_images: bool = False,
    include_formatting: bool | None = None,
    include_links: bool = False,
    deduplicate: bool = False,
    date_extraction_params: dict[str, Any] | None = None,
    with_metadata: bool = False,
    only_with_metadata: bool = False,
    max_tree_size: int | None = None,
    url_blacklist: Iterable[str] | None = None,
    author_blacklist: Iterable[str] | None = None,
    as_dict: bool = False,
    prune_xpath: str | list[str] | None = None,
    config: Any = None,
    options: Any = None,
) -> Document | dict[str, Any] | None:
    """Gives text and metadata of a page by the names of trafilatura, or None where nothing is left."""
    page = _page(filecontent, url, prune_xpath, max_tree_size, (None, config, options))
    if page is None:
        return None
    favor = _favor(favor_precision, favor_recall)
    document = _document(
        page, favor, include_comments, include_tables, target_language, deduplicate, None, only_with_metadata
    )
    if document is None or not _is_allowed(document, url_blacklist, author_blacklist):
        return None
    return Document(document).as_dict() if as_dict else Document(document)


def _favor(precision: bool, recall: bool) -> str:
    if precision == recall:
        return "balanced"
    return "precision" if precision else "recall"


def _page(
    content: Any, url: str | None, prune_xpath: str | list[str] | None, max_tree_size: int | None, settings: Any
) -> dehusk.Page | None:
    """The page, without what is pruned; None for one that is too large."""
    if any(value is not None for value in settings):
        raise ValueError("settingsfile, config and options: settings of trafilatura are not followed")
    if content is None or content != content:  # NaN, which stands for None in a column of pandas
        return None
    if prune_xpath or hasattr(content, "xpath"):
        content = _pruned(content, [prune_xpath] if isinstance(prune_xpath, str) else prune_xpath or [])
    page = dehusk.Page(content, url if url and dehusk.host(url) else None)
    return None if max_tree_size is not None and page.n_nodes > max_tree_size else page


def _pruned(content: Any, expressions: list[str]) -> str:
    from lxml import etree, html  # type: ignore[import-untyped]  # noqa: PLC0415

    tree = content if hasattr(content, "xpath") else html.fromstring(content)
    for expression in expressions:
        for element in tree.xpath(expression):
            if element.getparent() is not None:
                element.drop_tree() if hasattr(element, "drop_tree") else element.getparent().remove(element)
    text: str = etree.tostring(tree, encoding="unicode", method="html")
    return text


def _document(
    page: dehusk.Page,
    favor: str,
    include_comments: bool,
    include_tables: bool,
    target_language: str | None,
    deduplicate: bool,
    record_id: str | None,
    only_with_metadata: bool,
) -> dict[str, Any] | None:
    found = dehusk.extract(
        page,
        output="json",
        favor=favor,
        include_tables=include_tables,
        target_language=target_language,
        only_with_metadata=only_with_metadata,
    )
    if found is None:
        return None
    row = json.loads(found)
    comments = page.clean(keep="main", favor=favor).row(comments=True)["comments"] if include_comments else ""
    text = _without_repeats(row["text"]) if deduplicate else row["text"]
    address = row["url"] or row["canonical_url"]
    values = {
        "title": row["title"],
        "author": "; ".join(row["authors"]) or None,
        "url": address,
        "hostname": row["host"] or (dehusk.host(address) if address else None),
        "description": row["description"],
        "sitename": row["site_name"],
        "date": row["published"],
        "categories": [],
        "tags": row["tags"],
        "fingerprint": row["text_digest"],
        "id": record_id,
        "license": row["licence"],
        "comments": (comments or "").rstrip("\n"),
        "raw_text": row["text"].rstrip("\n"),
        "text": text.rstrip("\n"),
        "language": row["language"],
        "image": row["image"],
        "pagetype": row["page_kind"],
        "filedate": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }
    return {key: values[key] for key in KEYS}


def _without_repeats(text: str) -> str:
    """The lines that are no copies of earlier ones of the page."""
    seen: set[str] = set()
    return "\n".join(line for line in text.split("\n") if not line or line not in seen and not seen.add(line))


def _is_allowed(
    document: dict[str, Any], url_blacklist: Iterable[str] | None, author_blacklist: Iterable[str] | None
) -> bool:
    """Whether the address is not excluded. Authors that are excluded are left out."""
    if author_blacklist and document["author"]:
        excluded = {author.lower() for author in author_blacklist}
        authors = [author for author in document["author"].split("; ") if author.lower() not in excluded]
        document["author"] = "; ".join(authors) or None
    return not (url_blacklist and document["url"] in set(url_blacklist))


def _json(document: dict[str, Any], with_metadata: bool) -> dict[str, Any]:
    if not with_metadata:
        return {"text": document["text"], "comments": document["comments"]}
    renamed = {"url": "source", "sitename": "source-hostname", "description": "excerpt"}
    joined = {"categories": ";".join(document["categories"]), "tags": ";".join(document["tags"])}
    return {renamed.get(key, key): joined.get(key, value) for key, value in document.items()}


def _csv(document: dict[str, Any]) -> str:
    keys = "url id fingerprint hostname title image date text comments license pagetype".split()
    out = io.StringIO()
    csv.writer(out, delimiter="\t").writerow([document[key] or "null" for key in keys])
    return out.getvalue()
