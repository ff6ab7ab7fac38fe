"""Learns the page template of a web site from a few of its pages, and removes it from any page.

>>> import dehusk
>>> page = "<nav>Home</nav><h1>{0}</h1><p>All about {0}.</p>".format
>>> model = dehusk.SiteModel.learn([page(name) for name in ("rye", "oats", "corn")])
>>> model.clean(page("rice")).text
'rice\\n\\nAll about rice.\\n'

`SiteModel` knows a site. `extract` and `Page.clean` work on one page alone. `clean_batch` and `clean_arrow` use all
cores. `dehusk.spark` and `dehusk.datatrove` run on many machines and are imported by name. Nothing here reads files or
the network, and no thread outlives a call.
"""

from importlib.metadata import PackageNotFoundError, version

from dehusk._dehusk import (
    Cleaned,
    Page,
    PageSample,
    SiteModel,
    clean_arrow,
    clean_batch,
    columns,
    extract,
    host,
    schema,
)
from dehusk.types import Metadata

try:
    __version__ = version("dehusk")
except PackageNotFoundError:  # The folder is used without being installed.
    __version__ = "0"

__all__ = [
    "Cleaned",
    "Metadata",
    "Page",
    "PageSample",
    "SiteModel",
    "clean_arrow",
    "clean_batch",
    "columns",
    "extract",
    "host",
    "schema",
]
