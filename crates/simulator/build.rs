//! Embeds the simulated cards.

#[path = "../model/build/embed.rs"]
mod embed;

use std::path::Path;

fn main() -> std::io::Result<()> {
    let into = std::env::var_os("OUT_DIR").expect("cargo sets it");
    embed::embed_folder(Path::new("../.."), Path::new(&into), "cards", "toml")
}
