//! Imports between the files of the workspace, from modules, definitions, imports and paths in code. Methods are not
//! resolved, but their types are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree, Visibility};

/// Segments of a path, beginning with the crate.
type Name = Vec<String>;

/// Module of a crate.
#[derive(Default)]
struct Module {
    file: PathBuf,
    defines: BTreeSet<String>,
    imports: BTreeMap<String, Name>,
    globs: Vec<Name>,
    /// Paths used in its code and in private imports. A public import alone uses nothing.
    takes: BTreeSet<Name>,
}

/// The modules of all crates.
#[derive(Default)]
pub(super) struct Workspace {
    modules: BTreeMap<Name, Module>,
}

/// Files that each file imports from, with one imported name each.
pub(super) type Imports = BTreeMap<PathBuf, BTreeMap<PathBuf, String>>;

impl Workspace {
    /// Adds a crate by its root file; `read` returns the text of existing files.
    pub(super) fn add(&mut self, name: &str, root: &Path, read: &dyn Fn(&Path) -> Option<String>) {
        self.file(root, root.parent().unwrap_or(Path::new("")), vec![name.to_owned()], read);
    }

    fn file(&mut self, path: &Path, folder: &Path, name: Name, read: &dyn Fn(&Path) -> Option<String>) {
        let Some(text) = read(path) else { return };
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        self.items(&parsed.items, path, folder, name, read);
    }

    fn items(
        &mut self,
        items: &[Item],
        path: &Path,
        folder: &Path,
        name: Name,
        read: &dyn Fn(&Path) -> Option<String>,
    ) {
        let mut module = Module { file: path.to_owned(), ..Module::default() };
        for item in items.iter().filter(|item| !is_test(attributes(item))) {
            module.defines.extend(defined(item));
            if let Item::Mod(inner) = item {
                let own = inner.ident.to_string();
                let below = folder.join(&own);
                let name: Name = name.iter().cloned().chain([own.clone()]).collect();
                match &inner.content {
                    Some((_, items)) => self.items(items, path, &below, name, read),
                    None => {
                        self.file(&folder.join(format!("{own}.rs")), &below, name.clone(), read);
                        self.file(&below.join("mod.rs"), &below, name, read);
                    }
                }
            } else {
                module.visit_item(item);
            }
        }
        self.modules.insert(name, module);
    }

    /// Imports between all files.
    pub(super) fn imports(&self) -> Imports {
        let mut imports = Imports::new();
        for (name, module) in &self.modules {
            for path in &module.takes {
                let defined = self.file_of(name, path, 0);
                let passed_on = self.passed_on_by(name, path);
                for file in defined.into_iter().chain(passed_on).filter(|file| *file != module.file) {
                    let from = imports.entry(module.file.clone()).or_default();
                    from.entry(file).or_insert_with(|| path.join("::"));
                }
            }
        }
        imports
    }

    /// File that only re-exports a name; `None` for crate roots, which may re-export anything.
    fn passed_on_by(&self, from: &[String], path: &[String]) -> Option<PathBuf> {
        let (module, rest) = self.module_of(from, path, 0)?;
        let found = &self.modules[&module];
        let passes = found.imports.contains_key(rest.first()?) && !from.starts_with(&module);
        (passes && module.len() > 1).then(|| found.file.clone())
    }

    /// File that defines the item of a path; `None` for modules and external items.
    fn file_of(&self, from: &[String], path: &[String], depth: usize) -> Option<PathBuf> {
        let (module, rest) = self.module_of(from, path, depth)?;
        let module_name = &module;
        let found = &self.modules[module_name];
        let name = rest.first()?;
        if found.defines.contains(name) {
            return Some(found.file.clone());
        }
        let named = found.imports.get(name).and_then(|path| self.file_of(module_name, path, depth + 1));
        let all = || {
            let inside = |glob: &Name| -> Name { glob.iter().cloned().chain([name.clone()]).collect() };
            found.globs.iter().find_map(|glob| self.file_of(module_name, &inside(glob), depth + 1))
        };
        named.or_else(all)
    }

    /// Module that a path leads to, and the remaining segments.
    fn module_of(&self, from: &[String], path: &[String], depth: usize) -> Option<(Name, Name)> {
        // Imports can form a cycle themselves.
        if depth > 16 {
            return None;
        }
        let (mut at, mut rest): (Name, &[String]) = (from.to_vec(), path);
        let mut first = true;
        while let Some(name) = rest.first() {
            let below: Name = at.iter().cloned().chain([name.clone()]).collect();
            match name.as_str() {
                "crate" if first => at.truncate(1),
                "self" if first => {}
                "super" => drop(at.pop()),
                _ if self.modules.contains_key(&below) => at = below,
                _ if first && self.modules.contains_key(std::slice::from_ref(name)) => {
                    at = vec![name.clone()]
                }
                _ => {
                    // A module that was imported under this name.
                    let import = self.modules.get(&at).and_then(|module| module.imports.get(name));
                    let through = import.filter(|import| *import != path || at != from);
                    match through.and_then(|import| self.module_of(&at, import, depth + 1)) {
                        Some((module, left)) if left.is_empty() => at = module,
                        _ => break,
                    }
                }
            }
            first = matches!(name.as_str(), "self" | "super") && first;
            rest = &rest[1..];
        }
        self.modules.contains_key(&at).then(|| (at, rest.to_vec()))
    }
}

impl Module {
    fn import(&mut self, tree: &UseTree, prefix: &[String], public: bool) {
        let with = |name: &syn::Ident| -> Name { prefix.iter().cloned().chain([name.to_string()]).collect() };
        let (known_as, path) = match tree {
            UseTree::Path(path) => return self.import(&path.tree, &with(&path.ident), public),
            UseTree::Group(group) => {
                return group.items.iter().for_each(|tree| self.import(tree, prefix, public));
            }
            UseTree::Glob(_) => return self.globs.push(prefix.to_vec()),
            UseTree::Name(name) if name.ident == "self" => {
                (prefix.last().cloned().unwrap_or_default(), prefix.to_vec())
            }
            UseTree::Name(name) => (name.ident.to_string(), with(&name.ident)),
            UseTree::Rename(rename) => (rename.rename.to_string(), with(&rename.ident)),
        };
        if !public {
            self.takes.insert(path.clone());
        }
        self.imports.insert(known_as, path);
    }
}

impl<'a> Visit<'a> for Module {
    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        self.import(&item.tree, &[], !matches!(item.vis, Visibility::Inherited));
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        self.takes.insert(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'a syn::Macro) {
        self.visit_path(&called.path);
        let parts = Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
        if let Ok(parts) = called.parse_body_with(parts) {
            // The parsed expressions do not outlive this call, so their names are copied.
            let mut inside = Names::default();
            parts.iter().for_each(|part| inside.visit_expr(part));
            self.takes.extend(inside.0);
        }
    }

    fn visit_attribute(&mut self, _attribute: &'a Attribute) {}
}

/// The paths in the arguments of a macro.
#[derive(Default)]
struct Names(BTreeSet<Name>);

impl<'a> Visit<'a> for Names {
    fn visit_path(&mut self, path: &'a syn::Path) {
        self.0.insert(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let of_tests = |list: &syn::MetaList| list.tokens.to_string() == "test";
        attribute.path().is_ident("cfg") && attribute.meta.require_list().is_ok_and(of_tests)
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Names that an item defines. Those defined by a macro follow `struct`, `enum`, `fn` or `static`.
fn defined(item: &Item) -> Vec<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        Item::Macro(item) => {
            let text = item.mac.tokens.to_string();
            let words: Vec<&str> = text.split_whitespace().collect();
            let made = words.windows(2).filter(|pair| ["struct", "enum", "fn", "static"].contains(&pair[0]));
            let own = item.ident.iter().map(syn::Ident::to_string);
            return own.chain(made.map(|pair| pair[1].to_owned())).collect();
        }
        _ => return Vec::new(),
    };
    vec![ident.to_string()]
}
