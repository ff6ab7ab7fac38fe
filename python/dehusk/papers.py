"""The published methods behind dehusk, and the baselines that they are compared with.

>>> from dehusk import papers
>>> items = "".join(f"<li><a href=/{n}>Lamp {n}</a><i>{n},50 kr</i></li>" for n in range(8))
>>> papers.records(f"<nav>Home</nav><ul>{items}</ul>")[3]["fields"]["li/i"]
'3,50 kr'
>>> papers.Method("tps").clean(f"<nav><a href=/>Home</a></nav><ul>{items}</ul>").step
'tps'

`methods()` lists them. The documentation of the program (docs/methods.md) says what is whose, and which settings give
the paper's own form.
"""

from dehusk._dehusk import Method, cluster, methods, records

__all__ = ["Method", "cluster", "methods", "records"]
