//! The Python tests, with the package as it is built here.
//!
//! `PYTHON=1 cargo test -p dehusk-python` installs what they need from PyPI below `target/`; scripts/check.sh sets the
//! variable. They use the program `dehusk` and the pages beside the project where those are there.

use std::path::Path;
use std::process::Command;

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
    let list = project.join("python/tests/requirements.txt");
    assert!(run(Command::new(project.join("scripts/venv.sh")).arg(&venv).arg(list)), "packages from PyPI");
    let mut tests = Command::new(venv.join("bin/python"));
    tests.args(["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider"]).arg(project.join("python/tests"));
    tests.env("PYTHONPATH", project.join("python")).env("PYTHONDONTWRITEBYTECODE", "1");
    let program = deps.parent().unwrap().join("dehusk");
    if program.exists() {
        tests.env("DEHUSK_PROGRAM", program);
    }
    assert!(run(&mut tests), "the Python tests failed; their output is above");
}
