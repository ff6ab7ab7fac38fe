from collections.abc import Iterable, Sequence
from typing import Any, Literal, final, overload

import pyarrow  # type: ignore[import-untyped]

from dehusk.types import Metadata

__all__ = [
    "Cleaned",
    "Method",
    "Page",
    "PageSample",
    "SiteModel",
    "clean_arrow",
    "clean_batch",
    "cluster",
    "columns",
    "extract",
    "host",
    "methods",
    "records",
    "schema",
]

_Html = str | bytes | bytearray | Page
_Favor = Literal["precision", "balanced", "recall"]
_Output = Literal["text", "markdown", "html", "json"]

@final
class Page:
    def __new__(cls, html: _Html, url: str | None = None, *, content_type: str | None = None) -> Page: ...
    @property
    def url(self) -> str | None: ...
    @property
    def title(self) -> str | None: ...
    @property
    def encoding(self) -> str: ...
    @property
    def n_nodes(self) -> int: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def metadata(self) -> Metadata: ...
    def is_noindex(self, robots_tags: Sequence[str] | None = None, *, agents: Sequence[str] | None = None) -> bool: ...
    def clean(self, *, keep: str = "own", favor: _Favor = "balanced") -> Cleaned: ...

@final
class Cleaned:
    @property
    def page(self) -> Page: ...
    @property
    def text(self) -> str: ...
    @property
    def markdown(self) -> str: ...
    @property
    def html(self) -> str: ...
    @property
    def comments(self) -> str: ...
    @property
    def posts(self) -> list[dict[str, Any]]: ...
    @property
    def metadata(self) -> Metadata: ...
    @property
    def labels(self) -> list[bool]: ...
    @property
    def confidence(self) -> float: ...
    @property
    def kind(self) -> int | None: ...
    @property
    def step(self) -> str: ...
    def row(self, *, html: bool = False, comments: bool = False, posts: bool = False) -> dict[str, Any]: ...

@final
class SiteModel:
    @classmethod
    def learn(cls, pages: Iterable[_Html]) -> SiteModel: ...
    def add(self, html: _Html, url: str | None = None) -> bool: ...
    def merge(self, other: SiteModel) -> SiteModel: ...
    def clean(
        self,
        html: _Html,
        url: str | None = None,
        *,
        content_type: str | None = None,
        keep: str = "own",
        favor: _Favor = "balanced",
    ) -> Cleaned: ...
    @property
    def n_pages(self) -> int: ...
    def to_bytes(self) -> bytes: ...
    @classmethod
    def from_bytes(cls, data: bytes | bytearray) -> SiteModel: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes]]: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class PageSample:
    def __new__(cls, size: int = 9) -> PageSample: ...
    def add(self, html: str | bytes | bytearray, url: str, *, content_type: str | None = None) -> bool: ...
    def merge(self, other: PageSample) -> None: ...
    def pages(self) -> list[tuple[bytes, str, str | None]]: ...
    def learn(self) -> SiteModel | None: ...
    def __len__(self) -> int: ...

def extract(
    html: _Html | float | None,
    url: str | None = None,
    *,
    output: _Output = "text",
    favor: _Favor = "balanced",
    favor_precision: bool = False,
    favor_recall: bool = False,
    include_comments: bool = False,
    include_tables: bool = True,
    include_images: bool = True,
    include_links: bool = True,
    with_metadata: bool = False,
    only_with_metadata: bool = False,
    target_language: str | None = None,
    output_format: Literal["txt", "text", "markdown", "html", "json"] | None = None,
    content_type: str | None = None,
) -> str | None: ...
@overload
def clean_batch(
    pages: Iterable[_Html | None],
    model: SiteModel | None = None,
    *,
    output: None = None,
    keep: str = "own",
    favor: _Favor = "balanced",
    threads: int | None = None,
) -> list[Cleaned | None]: ...
@overload
def clean_batch(
    pages: Iterable[_Html | None],
    model: SiteModel | None = None,
    *,
    output: _Output,
    keep: str = "own",
    favor: _Favor = "balanced",
    threads: int | None = None,
) -> list[str | None]: ...
def clean_arrow(
    pages: Any,
    model: SiteModel | None = None,
    *,
    models: dict[str, SiteModel] | None = None,
    html: str = "html",
    url: str = "url",
    with_html: bool = False,
    comments: bool = False,
    posts: bool = False,
    noindex: Literal["show", "hide"] = "show",
    agents: Sequence[str] | None = None,
    keep: str = "own",
    favor: _Favor = "balanced",
    threads: int | None = None,
) -> Any: ...
def host(url: str) -> str | None: ...
def schema() -> pyarrow.Schema: ...
def columns() -> list[tuple[str, str, str]]: ...

@final
class Method:
    def __new__(
        cls, name: str, pages: Iterable[_Html] | None = None, *, settings: dict[str, str | int | float | bool] | None = None
    ) -> Method: ...
    @property
    def name(self) -> str: ...
    @property
    def paper(self) -> str: ...
    def clean(self, html: _Html, url: str | None = None, *, content_type: str | None = None) -> Cleaned: ...

def methods() -> list[tuple[str, str, str, bool]]: ...
def records(
    html: _Html,
    url: str | None = None,
    *,
    method: str = "tps",
    settings: dict[str, str | int | float | bool] | None = None,
) -> list[dict[str, Any]]: ...
def cluster(
    pages: Iterable[_Html],
    *,
    method: str = "max",
    settings: dict[str, str | int | float | bool] | None = None,
) -> list[int]: ...
