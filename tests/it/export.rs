//! Exports: what is written is read back, and what was killed goes on with the same bytes.

use std::collections::BTreeMap;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use dehusk_core::corpus::{OptionalColumns, columns};
use dehusk_corpus::export::{Duplicates, ExportOptions, Form, Kept, Manifest, Progress, export};
use dehusk_settings::Settings;
use dehusk_store::Store;
use serde_json::Value;

/// A store with the sites of the demo.
fn store() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let out = dehusk(dir.path(), &["demo", "--quiet"]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let path = dir.path().join("dehusk-demo/dehusk.db");
    (dir, path)
}

fn dehusk(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dehusk")).args(args).current_dir(dir).output().unwrap()
}

fn options(form: Form, part_bytes: u64) -> ExportOptions {
    ExportOptions {
        form,
        since: 0,
        hosts: Vec::new(),
        all_versions: false,
        as_of: None,
        states: Vec::new(),
        rights: None,
        filter: None,
        duplicates: Duplicates::Mark,
        near_duplicates: Some(Duplicates::Mark),
        keep: Kept::First,
        paragraphs: Some(Duplicates::Mark),
        optional: OptionalColumns::default(),
        pii: None,
        part_bytes,
    }
}

pub(crate) fn lines(dir: &Path) -> Vec<Value> {
    let mut parts: Vec<PathBuf> =
        std::fs::read_dir(dir.join("data")).unwrap().map(|entry| entry.unwrap().path()).collect();
    parts.retain(|path| path.extension().is_some_and(|extension| extension == "zst"));
    parts.sort();
    let text =
        |path: &PathBuf| String::from_utf8(zstd::decode_all(std::fs::File::open(path).unwrap()).unwrap()).unwrap();
    let all: String = parts.iter().map(text).collect();
    all.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Every row is in the Parquet files, in order, with the same values.
#[cfg(feature = "parquet")]
fn assert_parquet_has(rows: &[Value], manifest: &Manifest, dir: &Path) {
    use dehusk_core::calendar::iso_day;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    let mut n = 0;
    for part in &manifest.parts {
        let file = std::fs::File::open(dir.join(&part.name)).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        assert_eq!(reader.metadata().file_metadata().schema().get_fields().len(), columns().len());
        for row in reader.get_row_iter(None).unwrap() {
            let row = row.unwrap();
            for (name, field) in row.get_column_iter() {
                let expected = &rows[n][name];
                match field {
                    Field::Str(text) => assert_eq!(expected.as_str(), Some(text.as_str()), "{name}"),
                    Field::Long(number) => assert_eq!(expected.as_i64(), Some(*number), "{name}"),
                    Field::Bool(truth) => assert_eq!(expected.as_bool(), Some(*truth), "{name}"),
                    Field::Double(number) => assert_eq!(expected.as_f64(), Some(*number), "{name}"),
                    Field::Null => assert!(expected.is_null(), "{name}"),
                    Field::ListInternal(list) => assert_eq!(expected.as_array().unwrap().len(), list.len(), "{name}"),
                    Field::TimestampMillis(_) => assert_eq!(name, "fetched_at"),
                    Field::Date(days) => assert_eq!(expected, &iso_day(i64::from(*days)), "{name}"),
                    Field::Group(sources) => {
                        assert_eq!(sources.len(), expected.as_object().unwrap().len(), "{name}");
                        for (of, source) in sources.get_column_iter() {
                            match source {
                                Field::Str(source) => assert_eq!(expected[of], source.as_str(), "{of}"),
                                source => assert!(*source == Field::Null && expected[of].is_null(), "{of}: {source}"),
                            }
                        }
                    }
                    other => panic!("{name}: {other:?}"),
                }
            }
            n += 1;
        }
    }
    assert_eq!(n, rows.len());
}

#[test]
fn corpora_are_read_back() {
    let (dir, db) = store();
    let store = Store::open(&db).unwrap();
    let settings = Settings::default();
    let run = |form, name: &str| {
        export(&store, &dir.path().join(name), &options(form, 40_000), &settings, |_| ControlFlow::Continue(()))
            .unwrap()
    };

    let jsonl = run(Form::Jsonl, "jsonl");
    let rows = lines(&dir.path().join("jsonl"));
    assert!(jsonl.complete && jsonl.parts.len() > 3 && jsonl.rows as usize == rows.len() && rows.len() > 80);
    for row in &rows {
        assert_eq!(row.as_object().unwrap().len(), columns().len());
        let text = row["text"].as_str().unwrap();
        assert_eq!(row["n_chars"], text.chars().count());
        assert!(row["url"].as_str().unwrap().contains(row["host"].as_str().unwrap()));
        assert!(row["duplicate_of"].is_null() || row["near_duplicate_of"].is_null());
        assert!(row["duplicate_of"].is_null() || rows.iter().any(|other| other["url"] == row["duplicate_of"]));
    }

    #[cfg(feature = "parquet")]
    assert_parquet_has(&rows, &run(Form::Parquet, "parquet"), &dir.path().join("parquet"));

    let notes = run(Form::Markdown, "notes");
    let host = dir.path().join("notes/menus.demo.test");
    assert!(notes.rows as usize == rows.len() && std::fs::read_dir(host).unwrap().count() > 3);
    let copy = run(Form::Site, "copy");
    let index = std::fs::read_to_string(dir.path().join("copy/index.html")).unwrap();
    assert!(copy.rows as usize == rows.len() && index.contains("pages/menus.demo.test.html"), "{index}");
    let (mut n_links, mut n_pages) = (0, 0);
    for entry in walk(&dir.path().join("copy")) {
        if entry.extension().is_none_or(|extension| extension != "html") {
            continue;
        }
        let html = std::fs::read_to_string(&entry).unwrap();
        n_pages += usize::from(html.contains("data-origin"));
        for link in html.split("<a href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            if !link.contains("://") {
                n_links += 1;
                assert!(entry.parent().unwrap().join(link).exists(), "{} -> {link}", entry.display());
            }
        }
    }
    assert!(n_pages == rows.len() && n_links > 2 * n_pages + 20, "{n_links} links on {n_pages} pages");
    let wet = run(Form::Wet, "wet");
    assert!(wet.parts.iter().all(|part| part.name.ends_with(".warc.wet.gz") && part.sha256.len() == 64));
    let wacz = run(Form::Wacz, "wacz");
    let found: Vec<usize> =
        wacz.parts.iter().map(|part| n_replayed(&dir.path().join("wacz").join(&part.name))).collect();
    assert!(found.len() > 1 && found.iter().sum::<usize>() == rows.len(), "{found:?}");
}

/// Records of a WACZ file, each read by its line of the index.
fn n_replayed(path: &Path) -> usize {
    let zip = std::fs::read(path).unwrap();
    let archive = rawzip::ZipArchive::from_slice(&zip).unwrap();
    let files: BTreeMap<String, &[u8]> = archive
        .entries()
        .map(|entry| {
            let entry = entry.unwrap();
            let data = archive.get_entry(entry.wayfinder()).unwrap().data();
            (String::from_utf8_lossy(entry.file_path().as_ref()).into_owned(), data)
        })
        .collect();
    let text = |name: &str| std::str::from_utf8(files[name]).unwrap();
    let lines: Vec<&str> = text("indexes/index.cdxj").lines().collect();
    assert!(lines.is_sorted());
    for line in &lines {
        let fields: Value = serde_json::from_str(line.splitn(3, ' ').last().unwrap()).unwrap();
        let number = |name: &str| fields[name].as_str().unwrap().parse::<usize>().unwrap();
        let range = number("offset")..number("offset") + number("length");
        let mut record = Vec::new();
        flate2::read::GzDecoder::new(&files["archive/data.warc.gz"][range]).read_to_end(&mut record).unwrap();
        let record = String::from_utf8_lossy(&record);
        let url = fields["url"].as_str().unwrap();
        assert!(record.contains(&format!("WARC-Target-URI: {url}\r\n")) && record.contains("\r\n\r\n<"), "{record}");
    }
    assert_eq!(text("pages/pages.jsonl").lines().count(), lines.len() + 1);
    lines.len()
}

/// All files below a folder.
fn walk(dir: &Path) -> Vec<PathBuf> {
    let below = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.unwrap().path();
        if path.is_dir() { walk(&path) } else { vec![path] }
    };
    std::fs::read_dir(dir).unwrap().flat_map(below).collect()
}

/// Urls of the rows of an export, in order.
fn urls(dir: &Path, manifest: &Manifest) -> Vec<String> {
    let parts = manifest.parts.iter().flat_map(|part| {
        let text = zstd::decode_all(std::fs::File::open(dir.join(&part.name)).unwrap()).unwrap();
        let rows = serde_json::Deserializer::from_slice(&text).into_iter::<Value>().map(Result::unwrap);
        rows.map(|row| row["url"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    });
    parts.collect()
}

#[test]
fn a_stopped_export_keeps_what_it_has_and_goes_on() {
    let (dir, db) = store();
    let store = Store::open(&db).unwrap();
    let settings = Settings::default();
    for keep in [Kept::First, Kept::Longest] {
        let options = ExportOptions { keep, ..options(Form::Jsonl, 1 << 30) };
        let [whole, stopped] = ["whole", "stopped"].map(|name| dir.path().join(format!("{name}-{keep:?}")));
        let done = export(&store, &whole, &options, &settings, |_| ControlFlow::Continue(())).unwrap();
        let mut n_stops = 0;
        let mut manifest = export(&store, &stopped, &options, &settings, |_| ControlFlow::Break(())).unwrap();
        let mut rows = Vec::new();
        while !manifest.complete {
            rows.push(manifest.rows);
            n_stops += 1;
            assert!(n_stops < 100, "each attempt goes on: {rows:?}");
            // The groups of duplicates are found once; then each attempt makes one batch.
            let mut has_rows = false;
            manifest = export(&store, &stopped, &options, &settings, |progress| match progress {
                Progress::Rows(..) if std::mem::replace(&mut has_rows, true) => unreachable!("it was to stop"),
                Progress::Rows(..) => ControlFlow::Break(()),
                Progress::Survey(_) => ControlFlow::Continue(()),
            })
            .unwrap();
        }
        assert!(n_stops > 0 && rows.is_sorted());
        assert_eq!(urls(&stopped, &manifest), urls(&whole, &done));
    }
}

/// The state that a kill leaves after each finished part: the export goes on, and ends with the same bytes.
#[test]
fn a_killed_export_ends_with_the_same_bytes() {
    let (dir, db) = store();
    let store = Store::open(&db).unwrap();
    let settings = Settings::default();
    let options = ExportOptions { keep: Kept::Longest, ..options(Form::Jsonl, 40_000) };
    let whole = dir.path().join("whole");
    let mut states: Vec<Manifest> = Vec::new();
    let keep = |progress: Progress<'_>| {
        match progress {
            Progress::Rows(manifest, _) => states.push(manifest.clone()),
            Progress::Survey(n) => assert!(n > 0),
        }
        ControlFlow::Continue(())
    };
    let done = export(&store, &whole, &options, &settings, keep).unwrap();
    states.push(Manifest {
        parts: Vec::new(),
        languages: BTreeMap::new(),
        rows: 0,
        after: 0,
        complete: false,
        ..done.clone()
    });
    for state in states {
        let killed = dir.path().join("killed");
        std::fs::create_dir_all(killed.join("data")).unwrap();
        for part in &state.parts {
            std::fs::copy(whole.join(&part.name), killed.join(&part.name)).unwrap();
        }
        // What was seen of later pages does not count.
        std::fs::create_dir_all(killed.join(".seen/seen")).unwrap();
        for entry in std::fs::read_dir(whole.join(".seen/seen")).unwrap() {
            let path = entry.unwrap().path();
            std::fs::copy(&path, killed.join(".seen/seen").join(path.file_name().unwrap())).unwrap();
        }
        std::fs::write(killed.join(format!("data/part-{:05}.jsonl.zst.part", state.parts.len())), "half a part")
            .unwrap();
        std::fs::write(killed.join("manifest.json"), serde_json::to_vec(&state).unwrap()).unwrap();
        let again = export(&store, &killed, &options, &settings, |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(again, done);
        for part in &done.parts {
            assert_eq!(std::fs::read(killed.join(&part.name)).unwrap(), std::fs::read(whole.join(&part.name)).unwrap());
        }
        assert_eq!(
            std::fs::read_dir(killed.join("data"))
                .unwrap()
                .filter(|e| { e.as_ref().unwrap().path().extension().is_some_and(|extension| extension == "part") })
                .count(),
            0
        );
        std::fs::remove_dir_all(&killed).unwrap();
    }
}

/// What is left out is listed with the page that it is left out for, and that page is there.
#[test]
fn the_kept_page_of_a_group_is_the_one_that_was_asked_for() {
    let (dir, db) = store();
    let store = Store::open(&db).unwrap();
    let settings = Settings::default();
    let all = export(&store, &dir.path().join("all"), &options(Form::Jsonl, 1 << 30), &settings, |_| {
        ControlFlow::Continue(())
    })
    .unwrap();
    let marked = lines(&dir.path().join("all"));
    let length =
        |url: &Value| marked.iter().find(|row| row["url"] == *url).map(|row| row["n_chars"].as_i64().unwrap()).unwrap();
    for (keep, name) in [(Kept::First, "first"), (Kept::Longest, "longest"), (Kept::Newest, "newest")] {
        let (duplicates, near_duplicates) = (Duplicates::Drop, Some(Duplicates::Drop));
        let options = ExportOptions { keep, duplicates, near_duplicates, ..options(Form::Jsonl, 40_000) };
        let out = dir.path().join(name);
        let manifest = export(&store, &out, &options, &settings, |_| ControlFlow::Continue(())).unwrap();
        let rows = lines(&out);
        let mut n_listed = 0;
        for part in &manifest.left_out_parts {
            let list = std::fs::read_to_string(out.join(&part.name)).unwrap();
            assert_eq!(list.lines().count() as u64, part.rows);
            for line in list.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
                n_listed += 1;
                assert!(!rows.iter().any(|row| row["url"] == line["url"]), "{name}: {line}");
                if line["why"] != "noindex" {
                    assert!(rows.iter().any(|row| row["url"] == line["of"]), "{name}: {line}");
                    assert!(keep != Kept::Longest || length(&line["url"]) <= length(&line["of"]), "{line}");
                }
            }
        }
        assert!(n_listed > 3 && n_listed == manifest.left_out.values().sum::<u64>(), "{name}: {n_listed}");
        assert_eq!(rows.len() as u64, manifest.rows);
        assert!(manifest.rows < all.rows);
    }
}

#[test]
fn paragraphs_of_earlier_pages_are_marked_or_dropped() {
    let (dir, db) = store();
    let store = Store::open(&db).unwrap();
    let settings = Settings::load(None, &["export.min_paragraph=2".to_owned()]).unwrap();
    let run = |paragraphs, name: &str| {
        let options = ExportOptions { paragraphs: Some(paragraphs), ..options(Form::Jsonl, 1 << 30) };
        export(&store, &dir.path().join(name), &options, &settings, |_| ControlFlow::Continue(())).unwrap();
        lines(&dir.path().join(name))
    };
    let (marked, dropped) = (run(Duplicates::Mark, "marked"), run(Duplicates::Drop, "dropped"));
    let mut shorter = 0;
    for (marked, dropped) in marked.iter().zip(&dropped) {
        let share = ["repeated_in_site", "repeated_elsewhere"].map(|name| marked[name].as_f64().unwrap());
        let words = [marked, dropped].map(|row| row["n_words"].as_f64().unwrap());
        let kept = words[0] * (1.0 - share[0] - share[1]);
        assert!((kept - words[1]).abs() <= 0.001 * words[0] + 0.5, "{} {kept} {words:?}", marked["url"]);
        shorter += usize::from(words[1] < words[0]);
    }
    assert!(shorter > 3, "{shorter}");
}

#[test]
fn filters_duplicates_and_folders_are_obeyed_and_named() {
    let (dir, _) = store();
    let run = |args: &[&str]| {
        let out = dehusk(dir.path(), &[&["export", "--db", "dehusk-demo/dehusk.db"], args].concat());
        (out.status.code(), String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap())
    };
    let few = ["--out", "few", "--where", "n_words > 100 AND host LIKE 'm%'", "--duplicates", "drop"];
    let (code, out, _) = run(&few);
    assert!(code == Some(0) && out.contains("left out (where)") && out.contains("left out (duplicate)"), "{out}");
    let rows = lines(&dir.path().join("few"));
    assert!(!rows.is_empty() && rows.iter().all(|row| row["n_words"].as_i64() > Some(100)));
    assert_eq!(run(&few).0, Some(0), "made again, it adds nothing");
    assert_eq!(lines(&dir.path().join("few")), rows);

    std::fs::write(dir.path().join("few/data/part-00000.jsonl.zst"), "cut off").unwrap();
    let (code, _, error) = run(&few);
    assert!(code == Some(2) && error.contains("part-00000") && error.contains("another size"), "{error}");
    let (code, _, error) = run(&["--out", "few"]);
    assert!(code == Some(2) && error.contains("few") && error.contains("other options"), "{error}");
    let (code, _, error) = run(&["--out", "x", "--where", "n_wrds > 1"]);
    assert!(code == Some(2) && error.contains("n_wrds") && error.contains("--columns"), "{error}");
    let (code, _, error) = run(&["--out", "dehusk-demo"]);
    assert!(code == Some(2) && error.contains("other files"), "{error}");
    let (code, out, _) = run(&["--columns"]);
    assert!(code == Some(0) && columns().iter().all(|column| out.contains(column.name)));
}
