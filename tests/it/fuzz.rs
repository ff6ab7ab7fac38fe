//! Runs the functions of the fuzzer over the corpus in the repository, which has every input that once failed.

#[path = "../fuzz/targets.rs"]
#[allow(unreachable_pub, clippy::expect_used, reason = "a library of its own for the fuzzer")]
mod targets;

use std::path::Path;

#[test]
fn every_target_holds_on_its_corpus() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus");
    for (name, target) in targets::TARGETS {
        let folder = corpus.join(name);
        let files = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        let mut n_files = 0;
        for file in files {
            let path = file.unwrap().path();
            target(&std::fs::read(&path).unwrap());
            n_files += 1;
        }
        assert!(n_files > 0, "{} is empty", folder.display());
        // What no file begins with.
        target(b"");
        target(&[0xff; 64]);
    }
}
