//! The Python tests, with the package as it is built here.
//!
//! `PYTHON=1 cargo test -p dehusk-python` installs what they need from PyPI below `target/`; scripts/check.sh sets the
//! variable. They use the program `dehusk` and the pages beside the project where those are there.

use std::path::Path;
use std::process::Command;

/// Distributions and the modules that they give.
const NEEDED: [(&str, &str); 9] = [
    ("pytest", "pytest"),
    ("mypy", "mypy"),
    ("pyarrow", "pyarrow"),
    ("pandas", "pandas"),
    ("polars", "polars"),
    ("datasets", "datasets"),
    ("fastwarc", "fastwarc"),
    ("pyspark", "pyspark"),
    ("datatrove[io]", "datatrove"),
];

fn run(command: &mut Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}

#[test]
fn python_tests_pass_if_python_is_set() {
    if std::env::var_os("PYTHON").is_none() {
        println!("skipped: PYTHON is not set");
        return;
    }
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let deps = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let library = deps.join("lib_dehusk.so");
    let module = project.join("python/dehusk/_dehusk.abi3.so");
    std::fs::copy(&library, &module).unwrap();
    let venv = project.join("target/python");
    let python = venv.join("bin/python");
    let imports = NEEDED.map(|(_, module)| format!("import {module}")).join("; ");
    if !run(Command::new(&python).args(["-c", &imports])) {
        assert!(run(Command::new("python3").args(["-m", "venv"]).arg(&venv)));
        let names = NEEDED.map(|(name, _)| name);
        assert!(run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(names)));
    }
    let mut tests = Command::new(&python);
    tests.args(["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider"]).arg(project.join("python/tests"));
    tests.env("PYTHONPATH", project.join("python")).env("PYTHONDONTWRITEBYTECODE", "1");
    let program = deps.parent().unwrap().join("dehusk");
    if program.exists() {
        tests.env("DEHUSK_PROGRAM", program);
    }
    assert!(run(&mut tests), "the Python tests failed; their output is above");
}
