"""Types of what the package gives."""

from typing import TypedDict


class Metadata(TypedDict):
    """What a page says about itself. `sources` says where each value comes from."""

    title: str | None
    authors: list[str]
    published: str | None
    modified: str | None
    language: str | None
    site_name: str | None
    canonical_url: str | None
    description: str | None
    image: str | None
    tags: list[str]
    licence: str | None
    page_kind: str | None
    sources: dict[str, str]
