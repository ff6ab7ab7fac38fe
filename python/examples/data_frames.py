"""Cleans a column of pages with pandas, polars, Arrow and Hugging Face datasets.

pip install pandas polars pyarrow datasets
python data_frames.py
"""

import datasets
import pandas as pd
import polars as pl
import pyarrow as pa

import dehusk

NAMES = ["rye", "oats", "corn", "malt", "millet", "spelt"]
PAGE = "<nav>Home News</nav><h1>{0}</h1><p>All about {0}, which is a grain that many people eat.</p><footer>Rights</footer>"
HTML = [PAGE.format(name) for name in NAMES]
URL = [f"https://grains.example.org/{name}" for name in NAMES]

model = dehusk.SiteModel.learn(HTML)

# pandas: a function of one page, or a whole column on all cores.
frame = pd.DataFrame({"url": URL, "html": HTML})
frame["alone"] = frame.html.map(dehusk.extract)
frame["text"] = dehusk.clean_batch(frame.html.to_list(), model, output="text")
print(frame[["url", "text"]].to_string(max_colwidth=40))

# polars: the frame goes in as it is, and rows with all columns of `dehusk export` come out.
lines = pl.DataFrame({"url": URL, "html": HTML})
rows = pl.from_arrow(dehusk.clean_arrow(lines, model))
print(rows.select("url", "title", "language", "n_words", "confidence"))

# Arrow: rows go to Parquet, or to anything that reads Arrow.
table = dehusk.clean_arrow(pa.table({"url": URL, "html": HTML}), model)
print(table.num_rows, "rows,", table.num_columns, "columns")

# Hugging Face datasets, batched.
data = datasets.Dataset.from_dict({"url": URL, "html": HTML})
cleaned = data.map(
    lambda batch: {"markdown": dehusk.clean_batch(batch["html"], model, output="markdown")}, batched=True
)
print(cleaned[0]["markdown"])
