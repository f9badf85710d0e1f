//! Verbs that can be ordered.

use crate::api::Verbs;
use axum::Json;
use cardscope_verbs::description::VerbDescription;

/// Verbs that can be ordered, with what they do to a card and their options.
#[utoipa::path(get, path = "/api/verbs", tag = "verbs", responses((status = 200, body = Verbs)))]
pub(super) async fn list() -> Json<Verbs> {
    Json(Verbs { verbs: VerbDescription::all() })
}

#[cfg(test)]
mod tests {
    use cardscope_verbs::description::{OptionDescription, OptionKind, VerbDescription};
    use cardscope_verbs::list::Verb;
    use cardscope_verbs::request::Effect;

    fn verb(name: &str) -> VerbDescription {
        VerbDescription::all().into_iter().find(|verb| verb.name == name).unwrap()
    }

    fn option(verb: &VerbDescription, name: &str) -> OptionDescription {
        verb.options.iter().find(|option| option.name == name).unwrap().clone()
    }

    #[test]
    fn verbs_are_described_by_the_command_line() {
        let names: Vec<String> = VerbDescription::all().into_iter().map(|verb| verb.name).collect();
        assert_eq!(names, ["check", "verify", "bench", "map", "sustain", "format", "endure", "restore"]);
        let check = verb("check");
        assert_eq!((check.title.as_str(), check.effect), ("Check", Effect::Preserves));
        assert!(check.about.starts_with("Test a card as a whole"), "{}", check.about);
        let budget = option(&check, "budget");
        assert_eq!((budget.kind, budget.default.as_deref()), (OptionKind::Time, Some("3m")));
        assert!(budget.help.starts_with("Time limit"), "{}", budget.help);
        let erase = option(&check, "erase");
        assert_eq!((erase.kind, erase.effect), (OptionKind::Flag, Some(Effect::Loses)));
        assert_eq!(erase.conflicts, ["read_only"]);
        assert_eq!(option(&check, "read_only").effect, Some(Effect::Reads));
        let sustain = verb("sustain");
        let values: Vec<String> =
            option(&sustain, "pattern").values.into_iter().map(|allowed| allowed.value).collect();
        assert_eq!((sustain.effect, values), (Effect::Reads, vec!["seq".to_owned(), "rnd".to_owned()]));
        assert!(option(&verb("bench"), "only").repeatable);
        assert_eq!(option(&verb("bench"), "size").kind, OptionKind::Size);
        assert_eq!(option(&verb("bench"), "runs").kind, OptionKind::Integer);
    }

    #[test]
    fn every_field_of_a_request_is_an_option() {
        for verb in Verb::tasks() {
            let described = VerbDescription::new(verb).unwrap().options;
            let known = |field: &str| {
                described.iter().any(|option| option.name == field)
                    || ["target", "recipe_text", "journal"].contains(&field)
            };
            let fields = verb.defaults();
            assert!(!fields.is_empty(), "{verb:?}");
            assert_eq!(fields.keys().find(|field| !known(field)), None, "{verb:?}");
        }
    }

    #[test]
    fn no_path_command_or_consent_is_offered() {
        let withheld = [
            "target",
            "archive",
            "backup",
            "object",
            "yes_destroy",
            "thermometers",
            "baseline",
            "file",
            "files",
            "text",
        ];
        for verb in VerbDescription::all() {
            let offered = verb.options.iter().find(|option| withheld.contains(&option.name.as_str()));
            assert_eq!(offered, None, "{}", verb.name);
        }
    }
}
