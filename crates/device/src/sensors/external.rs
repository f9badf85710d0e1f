//! Thermometers of the user, parsed from the command line: `reader=cmd:…`, `room=csv:…`, `fan=ask`.

use cardscope_engine::cause::ErrorCause;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExtraSource {
    /// Command line for `sh`; the first number that it prints is in °C.
    Command(String),
    /// Growing CSV file; its last line counts, and there the column of this name or number (from 1), or the last one.
    Csv {
        path: PathBuf,
        column: Option<String>,
    },
    Typed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtraThermometer {
    /// Part or place that it measures, such as `reader`, `room`, `card surface`.
    pub place: String,
    pub source: ExtraSource,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is not a thermometer ({what}); write PLACE=cmd:COMMAND, PLACE=csv:FILE, \
         PLACE=csv:FILE#COLUMN or PLACE=ask, e.g. reader=csv:/tmp/probe.csv"
)]
pub struct ExtraError {
    text: String,
    what: &'static str,
}

impl std::str::FromStr for ExtraThermometer {
    type Err = ExtraError;

    fn from_str(text: &str) -> Result<ExtraThermometer, ExtraError> {
        let wrong = |what| ExtraError { text: text.to_owned(), what };
        let (place, source) = text.split_once('=').ok_or_else(|| wrong("there is no ="))?;
        let place = place.trim();
        if place.is_empty() {
            return Err(wrong("the place is missing"));
        }
        let source = match source.split_once(':') {
            _ if source == "ask" => ExtraSource::Typed,
            Some(("cmd" | "command", line)) if !line.trim().is_empty() => ExtraSource::Command(line.into()),
            Some(("csv", file)) if !file.is_empty() => csv_source(file),
            Some(("cmd" | "command" | "csv", _)) => return Err(wrong("the part after the colon is missing")),
            _ => return Err(wrong("unknown source")),
        };
        Ok(ExtraThermometer { place: place.to_owned(), source })
    }
}

fn csv_source(file: &str) -> ExtraSource {
    let split = file.rsplit_once('#').filter(|(path, column)| !path.is_empty() && !column.is_empty());
    let (path, column) = split.map_or((file, None), |(path, column)| (path, Some(column.to_owned())));
    ExtraSource::Csv { path: path.into(), column }
}

impl std::fmt::Display for ExtraSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ExtraSource::Command(line) => write!(f, "command {line}"),
            ExtraSource::Csv { path, column: None } => write!(f, "file {}", path.display()),
            ExtraSource::Csv { path, column: Some(name) } => {
                write!(f, "file {}, column {name}", path.display())
            }
            ExtraSource::Typed => f.write_str("typed in"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SensorError {
    /// Two thermometers at one place would mix two series.
    #[error("two thermometers have the place {place:?}; give each its own, e.g. \"{place} 2\"")]
    PlaceTwice { place: String },
    #[error("the thermometer file {path} cannot be read ({reason}); start the program that writes it \
             first", path = .path.display())]
    NoFile {
        path: PathBuf,
        #[source]
        reason: ErrorCause,
    },
    #[error("cannot start a thread for the thermometers: {0}")]
    NoThread(#[source] ErrorCause),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thermometer_descriptions_are_parsed() {
        let read = |text: &str| text.parse::<ExtraThermometer>().unwrap();
        assert_eq!(read("reader=cmd:cat /tmp/t").source, ExtraSource::Command("cat /tmp/t".into()));
        let column = Some("probe".to_owned());
        assert_eq!(
            read("room=csv:/tmp/t.csv#probe").source,
            ExtraSource::Csv { path: "/tmp/t.csv".into(), column }
        );
        assert_eq!(
            read("card surface=ask"),
            ExtraThermometer { place: "card surface".into(), source: ExtraSource::Typed }
        );
        // Equal signs and colons belong to the command.
        assert_eq!(read("a=cmd:x=1:2").source, ExtraSource::Command("x=1:2".into()));
    }

    #[test]
    fn wrong_thermometer_description_gets_advice() {
        for text in
            ["", "reader", "=ask", "reader=", "reader=cmd:", "reader=csv:", "reader=ntc:1", "reader=asked"]
        {
            let error = text.parse::<ExtraThermometer>().unwrap_err().to_string();
            assert!(error.contains("PLACE=cmd:COMMAND"), "{text}: {error}");
        }
    }
}
