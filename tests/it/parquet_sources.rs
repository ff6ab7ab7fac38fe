//! Parquet files as sources: rows as others write them, and damaged files.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use serde_json::{Value, json};

use crate::cli::{dehusk, err, out};

const PAGES: i64 = 60;

fn page(n: i64) -> String {
    let text: String =
        (0..12).map(|at| format!("Sentence {at} of page {n} tells of field {}. ", n * 31 + at)).collect();
    format!("<nav><a href=/>Home</a> of all</nav><h1>Page {n}</h1><p>{text}Käse</p><footer>Foot</footer>")
}

/// Writes pages with these names of columns, in row groups of 25.
fn write(path: &Path, [url, html]: [&str; 2], is_text: bool, compression: Compression) {
    let kind = if is_text { "(UTF8)" } else { "" };
    let schema =
        format!("message m {{ required binary {url} (UTF8); optional binary {html} {kind}; required int64 n; }}");
    let properties = WriterProperties::builder().set_compression(compression).build();
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let mut writer = SerializedFileWriter::new(File::create(path).unwrap(), schema, Arc::new(properties)).unwrap();
    let numbers: Vec<i64> = (0..PAGES).collect();
    for numbers in numbers.chunks(25) {
        let mut group = writer.next_row_group().unwrap();
        let texts = |text: &dyn Fn(i64) -> String| -> Vec<ByteArray> {
            numbers.iter().map(|n| text(*n).into_bytes().into()).collect()
        };
        let mut column = group.next_column().unwrap().unwrap();
        let urls = texts(&|n| format!("http://a.test/{n}"));
        column.typed::<ByteArrayType>().write_batch(&urls, None, None).unwrap();
        column.close().unwrap();
        // Latin-1 where the column is of bytes.
        let pages = if is_text {
            texts(&page)
        } else {
            let latin = |n: &i64| page(*n).chars().map(|c| c as u8).collect::<Vec<u8>>().into();
            numbers.iter().map(latin).collect()
        };
        let levels = vec![1; numbers.len()];
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&pages, Some(&levels), None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(numbers, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
}

fn rows(dir: &Path, args: &[&str]) -> Vec<Value> {
    let mut all = vec!["clean", "--quiet", "--rows", "--learn", "--pass", "n"];
    all.extend(args);
    out(&dehusk(dir, &all)).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn each_row_is_a_document_whatever_its_compression_and_names() {
    let dir = tempfile::tempdir().unwrap();
    let lines: String = (0..PAGES)
        .map(|n| format!("{}\n", json!({"url": format!("http://a.test/{n}"), "html": page(n), "n": n})))
        .collect();
    std::fs::write(dir.path().join("pages.jsonl"), lines).unwrap();
    let texts = |rows: &[Value]| -> Vec<[Value; 4]> {
        rows.iter().map(|row| ["url", "text", "step", "input"].map(|name| row[name].clone())).collect()
    };
    let want = texts(&rows(dir.path(), &["pages.jsonl"]));
    assert_eq!((want.len(), &want[7][3]), (PAGES as usize, &json!("{\"n\":7}")));
    assert!(want[7][1].as_str().unwrap().contains("Käse") && want[7][2] == "site_model");
    let gzip = Compression::GZIP(GzipLevel::default());
    let (zstd, brotli) = (Compression::ZSTD(ZstdLevel::default()), Compression::BROTLI(BrotliLevel::default()));
    for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY, gzip, Compression::LZ4_RAW, zstd, brotli] {
        write(&dir.path().join("x"), ["url", "html"], true, compression);
        assert!(texts(&rows(dir.path(), &["x"])) == want, "{compression}");
    }
    write(&dir.path().join("y"), ["address", "page"], false, Compression::SNAPPY);
    assert!(texts(&rows(dir.path(), &["y", "--fields", "url=address,html=page"])) == want);
    let renamed = std::fs::read_to_string(dir.path().join("pages.jsonl")).unwrap();
    let renamed = renamed.replace("\"html\":", "\"page\":").replace("\"url\":", "\"address\":");
    std::fs::write(dir.path().join("z"), renamed).unwrap();
    assert!(texts(&rows(dir.path(), &["z", "--fields", "url=address,html=page"])) == want);
    // In a folder, and as rows of a corpus.
    std::fs::create_dir(dir.path().join("in")).unwrap();
    std::fs::rename(dir.path().join("x"), dir.path().join("in/part.parquet")).unwrap();
    assert!(texts(&rows(dir.path(), &["in"])) == want);
    let said = err(&dehusk(dir.path(), &["clean", "y", "--rows"]));
    assert!(
        said.contains("y: no column html or text of plain values; --fields html=NAME names one of: address, page, n"),
        "{said}"
    );
}

#[test]
fn a_damaged_file_is_an_error_that_names_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pages.parquet");
    write(&path, ["url", "html"], true, Compression::SNAPPY);
    let whole = std::fs::read(&path).unwrap();
    let damaged = dir.path().join("damaged.parquet");
    // A row group that is damaged costs its rows.
    let mut bytes = whole.clone();
    bytes[200..260].fill(0x5a);
    std::fs::write(&damaged, bytes).unwrap();
    let run = dehusk(dir.path(), &["clean", "--alone", "--quiet", "damaged.parquet", "--out", "rest"]);
    let manifest: Value =
        serde_json::from_slice(&std::fs::read(dir.path().join("rest/manifest.json")).unwrap()).unwrap();
    assert_eq!((&manifest["rows"], &manifest["left_out"]), (&json!(35), &json!({"unreadable": 25})), "{}", err(&run));
    // Bytes all over the file, and its end cut off at many places.
    for at in (5..whole.len()).step_by(whole.len() / 40) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x5a;
        for bytes in [&bytes[..], &whole[..at]] {
            std::fs::write(&damaged, bytes).unwrap();
            let run = dehusk(dir.path(), &["clean", "--alone", "--rows", "--quiet", "damaged.parquet"]);
            let said = String::from_utf8_lossy(&run.stderr);
            assert!(run.status.code().is_some() && !said.contains("panicked"), "{at}: {said}");
            assert!(run.status.success() || said.contains("damaged.parquet"), "{at}: {said}");
        }
    }
}
