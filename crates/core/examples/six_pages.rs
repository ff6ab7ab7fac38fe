//! Learns the template of a site from six pages in memory and cleans a seventh.
//!
//! Run it with `cargo run -p dehusk-core --example six_pages`.
#![allow(clippy::print_stdout, reason = "an example")]

use dehusk_core::{LearnError, Page, PageOptions, SiteModel};

fn page(name: &str, words: &str) -> Page {
    let html = format!(
        "<title>{name} - Grains</title><header><a href=/>Grains</a> <a href=/about>About us</a></header>\
         <main><h1>{name}</h1><p>{words}</p></main><footer>Some rights reserved. <a href=/imprint>Imprint</a></footer>"
    );
    Page::parse(&html, &PageOptions::default())
}

fn main() -> Result<(), LearnError> {
    let pages = [
        page("Rye", "Rye grows on poor soil and in cold winters."),
        page("Oats", "Oats are rolled into flakes."),
        page("Maize", "Maize came from southern Mexico."),
        page("Barley", "Most barley is fed to animals, and some is malted."),
        page("Millet", "Millet ripens fast and needs little water."),
        page("Sorghum", "Sorghum feeds half a billion people."),
    ];
    let model = SiteModel::learn(&pages)?;
    let seventh = page("Rice", "Rice is sown in beds and planted out by hand.");
    let cleaned = model.clean(&seventh);
    println!("{} pages, {} bytes of model", model.n_pages(), model.to_bytes().len());
    println!("step {}, confidence {:.2}", cleaned.step(), cleaned.confidence());
    print!("{}", cleaned.text());
    Ok(())
}
