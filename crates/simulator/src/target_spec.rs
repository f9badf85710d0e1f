//! Names of simulated cards, `sim:NAME?key=value&…`, and their overrides. A key is a dotted path into the archetype's
//! file, its last part where only one path ends in it, or an abbreviation in `ABBREVIATIONS`.

use crate::archetype::schema::DEFAULT_SEED;
use crate::archetype::{Archetype, ArchetypeError, CardTruth, CoolingKind, FakeKind};
use crate::state_file::StateError;
use cardscope_model::builtin_names::sort_by_distance;
pub use cardscope_model::condition::{Condition, ConditionOrigin};
use cardscope_model::units::parse_size;
use cardscope_model::with_defaults;
use serde_json::Value;
use std::path::PathBuf;

pub const SIM_PREFIX: &str = "sim:";

/// Abbreviations of paths.
const ABBREVIATIONS: &[(&str, &str)] = &[
    ("cooling", "rig.cooling"),
    ("heat", "rig.heat"),
    ("fake", "fake.kind"),
    ("fake_bytes", "fake.real_bytes"),
    ("cache_bytes", "fake.cache_bytes"),
    ("wrap_bytes", "fake.wrap_bytes"),
    ("state", "state.start"),
];

/// Key of the seed, which is not part of the archetype.
const SEED_KEY: &str = "seed";

/// Simulated card as named: the archetype with its overrides, its seed and its storage.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetSpec {
    /// Name as the user wrote it.
    pub text: String,
    /// Archetype after the overrides; its truth follows them.
    pub archetype: Archetype,
    /// Seed of everything random about this card.
    pub seed: u64,
    pub storage: CardStorage,
}

/// Error in the name of a simulated card.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SpecError {
    #[error("{0:?} is not a simulated card; write sim:NAME or sim:NAME?key=value&key=value")]
    NotSimulated(String),
    #[error("{0:?} is not key=value, e.g. sim:constant?mb_s=100")]
    Malformed(String),
    /// Card, key, and a hint with similar keys.
    #[error("simulated card {0}: unknown key {1:?}; {2}")]
    UnknownKey(String, String, String),
    /// Card, key, and the paths that it matches.
    #[error("simulated card {0}: {1:?} matches {2}; write the whole path")]
    Ambiguous(String, String, String),
    /// Key, value, and what it must be.
    #[error("{0}={1}: {2}")]
    Value(String, String, String),
    #[error(transparent)]
    Archetype(#[from] ArchetypeError),
    #[error(transparent)]
    State(#[from] StateError),
}

pub fn is_simulated(name: &str) -> bool {
    name.starts_with(SIM_PREFIX)
}

/// Parses a name. Fails for an unknown card, and for an override that is unknown, ambiguous or makes an impossible
/// card.
pub fn parse(text: &str) -> Result<TargetSpec, SpecError> {
    let rest = text.strip_prefix(SIM_PREFIX).ok_or_else(|| SpecError::NotSimulated(text.to_owned()))?;
    let (name, overrides) = rest.split_once('?').unwrap_or((rest, ""));
    apply_overrides(text, Archetype::load(name)?, overrides)
}

/// Applies `key=value&…` to a card; `text` becomes the name of the result.
pub fn apply_overrides(text: &str, card: Archetype, overrides: &str) -> Result<TargetSpec, SpecError> {
    let storage = CardStorage::default();
    let mut spec = TargetSpec { text: text.to_owned(), archetype: card, seed: DEFAULT_SEED, storage };
    let pairs: Vec<_> = overrides.split('&').filter(|p| !p.is_empty()).collect();
    if pairs.is_empty() {
        return Ok(spec);
    }
    let before = spec.archetype.clone();
    let (mut tree, name) = (to_value_tree(&before), before.name.clone());
    for pair in pairs {
        let (key, value) = pair.split_once('=').ok_or_else(|| SpecError::Malformed(pair.to_owned()))?;
        if key == SEED_KEY {
            let wrong = |_| value_error(key, value, "the seed must be a whole number");
            spec.seed = value.parse().map_err(wrong)?;
            continue;
        }
        if spec.storage.apply_key(key, value)? {
            continue;
        }
        let path = resolve_key(&name, &tree, key)?;
        let place = value_at(&mut tree, &path);
        *place = convert_value(place, &path, key, value)?;
        // Each value is applied alone, so that an error names the key at fault. The tree is rebuilt after each one,
        // since the value may have added a table.
        let misfit = |e| value_error(key, value, explain_misfit(&path, &e));
        spec.archetype = serde_json::from_value(tree).map_err(misfit)?;
        tree = to_value_tree(&spec.archetype);
    }
    spec.archetype.check()?;
    update_csd_capacity(&mut spec.archetype, &before);
    refuse_sizes_of_genuine(&spec.archetype, overrides)?;
    spec.archetype.truth = CardTruth::from_parameters(&spec.archetype, spec.seed);
    Ok(spec)
}

impl TargetSpec {
    /// Settings of the rig, as the condition of a measurement.
    pub fn condition(&self) -> Condition {
        let rig = &self.archetype.rig;
        let mut condition = Condition::default();
        let mut set = |word, value: String| condition.set(word, value, ConditionOrigin::Simulated);
        if self.archetype.thermal.is_some() {
            let cooling = match rig.cooling {
                _ if !rig.heat => "no heat",
                CoolingKind::Active => "active",
                CoolingKind::Passive => "passive",
            };
            set("cooling", cooling.to_owned());
            set("cooling_of", "card".to_owned());
        }
        if let Some(speed) = rig.host_source_mb_s {
            set("host_source_mb_s", speed.to_string());
        }
        if let Some(speed) = rig.bus_mb_s {
            set("bus_mode", format!("{speed} MB/s"));
        }
        set("reader", "simulated".to_owned());
        condition
    }
}

/// Values of `state` that are not names of files.
const START_WORDS: [&str; 3] = ["factory", "filled", "used"];

with_defaults! {
    /// Files and memory for the content of a simulated card.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct CardStorage {
        /// Saved state to start from (`state=FILE`).
        pub load: Option<PathBuf> = None,
        /// File for the state when the card is closed (`save=FILE`).
        pub save: Option<PathBuf> = None,
        /// Written bytes held in memory; the rest goes to a temporary file (`memory=256MiB`).
        pub memory_bytes: u64 = 256 << 20,
    }
}

impl CardStorage {
    /// Applies a key about files or memory; returns false for any other key.
    fn apply_key(&mut self, key: &str, value: &str) -> Result<bool, SpecError> {
        let path = || match value {
            "" => Err(value_error(key, value, "must name a file")),
            name => Ok(Some(PathBuf::from(name))),
        };
        match key {
            "state" if !START_WORDS.contains(&value) => self.load = path()?,
            "save" => self.save = path()?,
            "memory" => self.memory_bytes = parse_size(value).map_err(|e| value_error(key, value, e))?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Writes an overridden capacity into the CSD. A reader that shows another capacity is `shown_bytes`.
fn update_csd_capacity(card: &mut Archetype, before: &Archetype) {
    let bytes = card.announced_bytes;
    if let (Some(sd), Some(old)) = (&mut card.identity.sd, &before.identity.sd)
        && (bytes != before.announced_bytes && sd.csd == old.csd)
    {
        sd.set_csd_capacity(bytes);
    }
}

const NOT_A_FAKE: &str =
    "the card is not a fake; add fake=limbo, wraparound, chain, address-line, damaged or overcommitted";

/// Refuses sizes of a fake on a genuine card, which would otherwise be ignored in silence.
fn refuse_sizes_of_genuine(card: &Archetype, overrides: &str) -> Result<(), SpecError> {
    let given = |word: &str| overrides.split('&').find(|p| p.split_once('=').is_some_and(|(k, _)| k == word));
    let pair = ["fake_bytes", "cache_bytes", "wrap_bytes"].into_iter().find_map(given);
    match pair.and_then(|p| p.split_once('=')) {
        Some((key, value)) if card.fake.kind == FakeKind::None => Err(value_error(key, value, NOT_A_FAKE)),
        _ => Ok(()),
    }
}

/// Archetype as a tree in which absent values are null, so that they have a path as well.
fn to_value_tree(card: &Archetype) -> Value {
    serde_json::to_value(card).unwrap_or(Value::Null)
}

/// Collects the paths of all values in the order of the file. The truth is left out, since it follows from the others.
fn collect_paths(tree: &Value, prefix: &str, out: &mut Vec<String>) {
    let Value::Object(table) = tree else {
        out.push(prefix.to_owned());
        return;
    };
    for (key, value) in table.iter().filter(|(key, _)| !prefix.is_empty() || *key != "truth") {
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        collect_paths(value, &path, out);
    }
}

fn resolve_key(card: &str, tree: &Value, key: &str) -> Result<String, SpecError> {
    if let Some((_, path)) = ABBREVIATIONS.iter().find(|(word, _)| *word == key) {
        return Ok((*path).to_owned());
    }
    let mut all = Vec::new();
    collect_paths(tree, "", &mut all);
    if all.iter().any(|p| p == key) {
        return Ok(key.to_owned());
    }
    // A key creates a table that the card lacks; the check of that table reports what is then missing.
    if let Some((table, _)) = key.split_once('.')
        && tree.get(table).is_some_and(Value::is_null)
    {
        return Ok(key.to_owned());
    }
    let suffix = format!(".{key}");
    let ends: Vec<_> = all.iter().filter(|p| p.ends_with(&suffix)).cloned().collect();
    match ends.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(SpecError::UnknownKey(card.to_owned(), key.to_owned(), unknown_key_hint(&all, key))),
        _ => Err(SpecError::Ambiguous(card.to_owned(), key.to_owned(), ends.join(", "))),
    }
}

/// Number of similar keys in a hint.
const HINT_KEYS: usize = 3;

fn unknown_key_hint(all: &[String], key: &str) -> String {
    let words = ABBREVIATIONS.iter().map(|(word, _)| *word);
    let known = [SEED_KEY, "save", "memory"].into_iter().chain(words).chain(all.iter().map(String::as_str));
    let near = sort_by_distance(key, known.collect())[..HINT_KEYS].join(", ");
    format!("the nearest are {near}; docs/simulator.md explains the keys")
}

fn value_at<'a>(tree: &'a mut Value, path: &str) -> &'a mut Value {
    path.split('.').fold(tree, |node, key| &mut node[key])
}

/// Converts the text to the type of the old value.
fn convert_value(old: &Value, path: &str, key: &str, text: &str) -> Result<Value, SpecError> {
    if path.ends_with("_bytes") {
        return parse_size(text).map(Value::from).map_err(|e| value_error(key, text, e));
    }
    let whole = text.parse::<u64>().map(Value::from).ok();
    let number = || text.parse::<f64>().map(Value::from).ok();
    let (value, wanted) = match (old, text) {
        (Value::Bool(_), "on" | "true" | "yes") => (Some(Value::Bool(true)), ""),
        (Value::Bool(_), "off" | "false" | "no") => (Some(Value::Bool(false)), ""),
        (Value::Bool(_), _) => (None, "must be on or off"),
        (Value::String(_), _) => (Some(Value::from(text)), ""),
        (Value::Number(n), _) if n.is_u64() => (whole, "must be a whole number"),
        (Value::Number(_), _) => (number(), "must be a number"),
        // Deserializing the tree reports a wrong type.
        (Value::Null, _) => (Some(whole.or_else(number).unwrap_or_else(|| Value::from(text))), ""),
        (Value::Array(_) | Value::Object(_), _) => (None, "a list can only be set in a card's file"),
    };
    value.ok_or_else(|| value_error(key, text, wanted))
}

/// Reason why a value does not fit its path; lists the possible words if there are any.
fn explain_misfit(path: &str, error: &serde_json::Error) -> String {
    let said = error.to_string();
    match said.split_once(", expected ") {
        Some((what, expected)) if what.starts_with("unknown variant") => {
            let kind = path.rsplit('.').next().unwrap_or(path);
            format!("unknown {kind}; use {}", expected.trim_start_matches("one of ").replace('`', ""))
        }
        _ => said,
    }
}

fn value_error(key: &str, value: &str, reason: impl ToString) -> SpecError {
    SpecError::Value(key.to_owned(), value.to_owned(), reason.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_key_resolves_if_unique() {
        let spec = parse("sim:constant?mb_s=100&seed=7").unwrap();
        assert_eq!(spec.archetype.constant.unwrap().mb_s, 100.0);
        assert_eq!(spec.seed, 7);
        assert_eq!(parse("sim:lexar-16g-c10?read.mb_s=100").unwrap().archetype.read.unwrap().mb_s, 100.0);
    }

    #[test]
    fn truth_follows_overridden_fake() {
        let usable = |text: &str| parse(text).unwrap().archetype.truth.usable_bytes;
        assert_eq!(usable("sim:sandian-1tb-52g"), 52_000_002_048);
        assert_eq!(usable("sim:sandian-1tb-52g?fake=none"), 1_000_000_192_512);
        assert_eq!(usable("sim:sandian-1tb-52g?fake=wraparound&wrap_bytes=64GiB"), 64 << 30);
        assert_eq!(usable("sim:sandian-1tb-52g?fake=chain&wrap_bytes=64GiB"), 52_000_002_048);
        assert_eq!(usable("sim:lexar-16g-c10?fake=limbo&fake_bytes=1G&cache_bytes=64M"), 1 << 30);
    }

    #[test]
    fn key_creates_missing_table() {
        let worn = parse("sim:constant?wear.endurance_cycles=50&wear.end=dead&wear.level_every=100").unwrap();
        let wear = worn.archetype.wear.unwrap();
        assert_eq!((wear.endurance_cycles, wear.level_every), (50.0, Some(100)));
        let guarded = parse("sim:constant?fat_region.speed=0.5").unwrap();
        assert_eq!(guarded.archetype.truth.fat_region_bytes, Some(8 << 20));
    }

    #[test]
    fn invalid_names_are_refused_with_advice() {
        for (bad, parts) in [
            ("/dev/sdb", ["sim:NAME", ""]),
            ("sim:nonesuch", ["constant", "`cardscope sim list`"]),
            ("sim:lexar-16g-c10?mb_s=100", ["read.mb_s", "write.mb_s"]),
            ("sim:lexar-16g-c10?read.bas_s=1", ["read.base_s", ""]),
            ("sim:lexar-16g-c10?fak=limbo", ["nearest are fake,", "docs/simulator.md"]),
            ("sim:lexar-16g-c10?fake=limbo", ["fake_bytes", ""]),
            ("sim:lexar-16g-c10?fake=chain", ["fake_bytes=…", "wrap_bytes=…"]),
            ("sim:lexar-16g-c10?fake=dead", ["fake=dead: unknown kind; use none, limbo, ", ""]),
            ("sim:lexar-16g-c10?fake_bytes=1G", ["fake=limbo", ""]),
            ("sim:constant?mb_s=fast", ["mb_s=fast", ""]),
            ("sim:constant?mb_s=-1", ["constant.mb_s", "above 0"]),
            ("sim:constant?command_s=4000", ["constant.command_s", "3600 seconds"]),
            ("sim:constant?hiccup_p=1.5", ["noise.hiccup_p", "0 to 1"]),
            ("sim:constant?cooling=fan", ["cooling=fan", ""]),
            ("sim:constant?heat=2", ["heat=2", ""]),
            ("sim:constant?announced_bytes=1.3", ["announced_bytes", ""]),
            ("sim:constant?seed=x", ["seed", ""]),
            ("sim:constant?mb_s", ["key=value", ""]),
            ("sim:constant?truth.usable_bytes=1G", ["unknown key", ""]),
            ("sim:constant?wear.end=never", ["read-only", ""]),
            ("sim:constant?wear.endurance=50", ["endurance_cycles", ""]),
            ("sim:constant?thermal.tmt1_c=50", ["missing field", ""]),
        ] {
            let error = parse(bad).unwrap_err().to_string();
            assert!(parts.iter().all(|part| error.contains(part)), "{bad}: {error}");
        }
    }

    #[test]
    fn condition_comes_from_the_rig() {
        let condition =
            parse("sim:lexar-1tb-express?cooling=passive&host_source_mb_s=70").unwrap().condition();
        assert_eq!(condition.get("cooling"), Some("passive"));
        assert_eq!(condition.get("host_source_mb_s"), Some("70"));
        assert_eq!(condition.origin("cooling"), Some(ConditionOrigin::Simulated));
    }

    proptest::proptest! {
        #[test]
        fn parse_never_panics(text in "(sim:)?(constant|lexar-16g-c10)?[?]?[ -~]{0,40}") {
            let _ = parse(&text);
        }
    }
}
