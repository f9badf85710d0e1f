//! Build script: embeds recipes, jobs, hosts and published results.

mod embed;

use std::path::Path;

fn main() -> std::io::Result<()> {
    let into = std::env::var_os("OUT_DIR").expect("cargo sets it");
    let folders = [("recipes", "toml"), ("jobs", "toml"), ("hosts", "toml"), ("collection", "json")];
    for (folder, extension) in folders {
        embed::embed_folder(Path::new("../.."), Path::new(&into), folder, extension)?;
    }
    Ok(())
}
