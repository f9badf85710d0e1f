//! Builds the web app with Node from `web/`, compresses its files, and generates a table that embeds them. Without Node or
//! the folder the table is empty, and the server says so. CARDSCOPE_WEB=require makes that an error, CARDSCOPE_WEB=skip
//! saves the time.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=CARDSCOPE_WEB");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where"));
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web");
    let wish = env::var("CARDSCOPE_WEB").unwrap_or_default();
    let built =
        if wish == "skip" { Err("CARDSCOPE_WEB=skip".to_owned()) } else { build(&web, &out.join("web")) };
    let files = match built {
        Ok(folder) => packed(&folder, &out.join("packed")),
        Err(why) if wish == "require" => panic!("the app cannot be built: {why}"),
        Err(why) => {
            println!(
                "cargo::warning=built without the app for browsers ({why}); `cardscope serve` serves the API only"
            );
            Vec::new()
        }
    };
    let mut table = "pub(super) static FILES: &[(&str, &[u8])] = &[\n".to_owned();
    for (name, file) in files {
        writeln!(table, "    ({name:?}, include_bytes!({file:?})),").expect("a string takes it");
    }
    table.push_str("];\n");
    fs::write(out.join("app.rs"), table).expect("cargo's folder can be written");
}

fn build(web: &Path, into: &Path) -> Result<PathBuf, String> {
    if !web.join("package-lock.json").is_file() {
        return Err("there is no folder web/".to_owned());
    }
    for watched in [
        "src",
        "index.html",
        "package-lock.json",
        "package.json",
        "vite.config.ts",
        "svelte.config.js",
        "tsconfig.json",
    ] {
        println!("cargo::rerun-if-changed={}", web.join(watched).display());
    }
    println!("cargo::rerun-if-changed={}", web.join("../crates/page/src/tree/html").display());
    let npm = |arguments: &[&str]| {
        let run =
            Command::new("npm").args(arguments).current_dir(web).env("CARDSCOPE_WEB_OUT", into).output();
        let run = run.map_err(|e| format!("npm cannot be started: {e}"))?;
        let said =
            || format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
        if run.status.success() {
            Ok(())
        } else {
            Err(format!("npm {} failed:\n{}", arguments.join(" "), said()))
        }
    };
    // Installed packages are current if the lock file is unchanged.
    let lock = fs::read(web.join("package-lock.json")).map_err(|e| e.to_string())?;
    let stamp = web.join("node_modules/.cardscope-lock");
    if fs::read(&stamp).ok().as_ref() != Some(&lock) {
        npm(&["ci", "--no-audit", "--no-fund", "--silent"])?;
        fs::write(&stamp, &lock).map_err(|e| e.to_string())?;
    }
    npm(&["run", "build", "--silent"])?;
    Ok(into.to_owned())
}

/// Compresses all files below a folder; returns their relative names and packed files.
fn packed(folder: &Path, into: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in
            fs::read_dir(&next).expect("the build made it").map(|entry| entry.expect("it can be read"))
        {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).expect("it lies there").to_string_lossy().into_owned();
            let file = into.join(name.replace('/', "_") + ".gz");
            fs::create_dir_all(into).expect("cargo's folder can be written");
            let mut packer = GzEncoder::new(Vec::new(), Compression::best());
            packer.write_all(&fs::read(&path).expect("it can be read")).expect("memory takes it");
            fs::write(&file, packer.finish().expect("memory takes it"))
                .expect("cargo's folder can be written");
            files.push((name, file.to_string_lossy().into_owned()));
        }
    }
    files.sort();
    files
}
