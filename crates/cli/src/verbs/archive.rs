//! `archive`: what was measured before, the cards it was measured of, and both as files.

use crate::output::{self, Options};
use cardscope_model::card::{Event, EventKind, Price, is_date};
use cardscope_model::outside;
use cardscope_session::Failure;
use cardscope_session::archive::{self, Edit, Shown};
use clap::{Args, Subcommand};
use std::path::PathBuf;

mod text;

/// Look at what was measured before, correct what is known of cards, take both out and in as files
#[derive(Debug, Args)]
pub(crate) struct Archive {
    #[command(subcommand)]
    what: What,
    /// Archive: a file, or postgres://... [default: in the XDG data folder]
    #[arg(long, value_name = "FILE|URL", env = "CARDSCOPE_ARCHIVE", hide_env_values = true, global = true)]
    archive: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List everything that was measured
    List,
    /// List the cards
    Cards,
    /// Show a session as it was printed (of one that did not finish, what was measured), or a card with all that is known
    Show {
        /// A session's name as `list` shows it, or a card
        what: String,
    },
    /// Correct what is known of a card, note what happened to it, attach pictures
    Edit(Box<Correction>),
    /// Make one card of two: everything of FROM goes to INTO
    Merge {
        /// The card that goes
        from: String,
        /// The card that stays
        into: String,
    },
    /// Remove a session for good
    Remove {
        /// Its name as `list` shows it
        session: String,
        /// Consent: the session's name once more
        #[arg(long, value_name = "SESSION")]
        yes_remove: String,
    },
    /// Write sessions as files, one each (docs/result-file.schema.json)
    Export {
        /// Sessions or cards; without any, everything
        what: Vec<String>,
        /// Folder to write them into
        #[arg(short = 'o', long, value_name = "FOLDER")]
        output: PathBuf,
    },
    /// Take in files that `export` wrote; logs of other tools are read by `cardscope import`
    Import {
        /// Files, or folders of them
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

#[derive(Debug, Args)]
struct Correction {
    /// The card: words of its name, or the beginning of its id
    card: String,
    /// A fact: brand, name, model, maker, capacity, form, firmware, made, generation, note; nothing after = takes it away
    #[arg(long, value_name = "FACT=VALUE")]
    set: Vec<String>,
    /// Its marks, in place of those it has: --marks C10,U3,V30,A2
    #[arg(long, value_name = "MARKS", value_delimiter = ',')]
    marks: Option<Vec<String>>,
    /// What happened: bought, in-use, failed, warranty, gone, note
    #[arg(long, value_name = "EVENT", value_parser = kind)]
    event: Option<EventKind>,
    /// When: YYYY, YYYY-MM or YYYY-MM-DD
    #[arg(long, requires = "event", value_parser = date)]
    date: Option<String>,
    /// What was paid, e.g. 12.99EUR
    #[arg(long, requires = "event", value_parser = price)]
    price: Option<Price>,
    /// What was in the box, who sold it, how it failed
    #[arg(long, requires = "event")]
    about: Option<String>,
    /// Where that is from: an address, the name of an attached picture
    #[arg(long, requires = "event")]
    source: Option<String>,
    /// Attach a photograph, a screenshot, a receipt; may be given several times
    #[arg(long, value_name = "FILE")]
    attach: Vec<PathBuf>,
}

impl Archive {
    pub(crate) fn run(self, options: &Options) -> Result<u8, Failure> {
        let path = self.archive.as_deref();
        match self.what {
            What::List => {
                output::list(options, "sessions", &archive::list(path)?, |sessions| text::sessions(sessions))
            }
            What::Cards => output::list(options, "cards", &archive::cards(path)?, |cards| text::cards(cards)),
            What::Show { what } => self::show(options, path, &what),
            What::Edit(correction) => {
                let card = archive::edit(path, &correction.card.clone(), &correction.edit()?)?;
                output::document(options, &card, text::card)
            }
            What::Merge { from, into } => {
                output::document(options, &archive::merge(path, &from, &into)?, text::card)
            }
            What::Remove { session, yes_remove } => {
                if session != yes_remove {
                    return Err(Failure::refused(
                        "--yes-remove does not name the same session; nothing was removed",
                    ));
                }
                archive::remove(path, &session)?;
                output::list(options, "removed", &session, |session| format!("removed {session}"))
            }
            What::Export { what, output: folder } => {
                let files = archive::export(path, &what, &folder)?;
                let folder = folder.display().to_string();
                output::list(options, "files", &files, |files| {
                    format!("{} sessions in {}", files.len(), outside::line(&folder))
                })
            }
            What::Import { files } => {
                let taken = archive::take(path, &files)?;
                output::list(options, "files", &taken, |taken| text::taken(taken))?;
                Ok(u8::from(taken.iter().any(|t| t.error.is_some())))
            }
        }
    }
}

/// A session where the text is one's name, else a card.
fn show(options: &Options, path: Option<&std::path::Path>, what: &str) -> Result<u8, Failure> {
    if !archive::is_session(what) {
        return output::document(options, &archive::card(path, what)?, text::card);
    }
    match archive::show(path, what)? {
        Shown::Bench(report) => output::document(options, &*report, cardscope_report::bench::text),
        Shown::Log(log) => output::document(options, &*log, cardscope_report::import::log),
        Shown::Record { kind, document } => {
            output::document(options, &document, |document| text::record(&kind, document))
        }
    }
}

impl Correction {
    fn edit(self) -> Result<Edit, Failure> {
        let fact = |text: &String| {
            let (word, value) = text.split_once('=')?;
            Some((word.to_owned(), value.to_owned()))
        };
        let facts = self.set.iter().map(|text| {
            fact(text).ok_or_else(|| {
                Failure::refused(format!("--set {text:?} is not FACT=VALUE; write e.g. brand=SanDisk"))
            })
        });
        let event = self.event.map(|kind| Event {
            date: self.date,
            kind,
            price: self.price,
            note: self.about,
            source: self.source,
        });
        Ok(Edit {
            facts: facts.collect::<Result<_, _>>()?,
            marks: self.marks,
            events: event.into_iter().collect(),
            attach: self.attach,
        })
    }
}

fn kind(text: &str) -> Result<EventKind, String> {
    serde_json::from_value(text.into())
        .map_err(|_| format!("{text:?} is no event; they are bought, in-use, failed, warranty, gone, note"))
}

/// `2024`, `2024-03` or `2024-03-12`.
fn date(text: &str) -> Result<String, String> {
    let error = || format!("{text:?} is no date; write 2024, 2024-03 or 2024-03-12");
    is_date(text).then(|| text.to_owned()).ok_or_else(error)
}

/// `12.99EUR`, `12.99 EUR`, `12,99 EUR`. Three digits behind the point or comma may be thousands: who means which says so.
fn price(text: &str) -> Result<Price, String> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (amount, currency) = text.split_at(split);
    let amount = amount.trim().replace(',', ".").parse::<f64>().ok().filter(|a| a.is_finite() && *a >= 0.0);
    let thousands = |text: &str| text.rsplit_once([',', '.']).is_some_and(|(_, rest)| rest.trim().len() == 3);
    let amount = amount.filter(|_| !thousands(&text[..split]));
    let currency = currency.trim().to_ascii_uppercase();
    match amount {
        Some(amount) if currency.len() == 3 && currency.chars().all(|c| c.is_ascii_alphabetic()) => {
            Ok(Price { amount, currency })
        }
        _ => Err(format!("{text:?} is no price; write an amount and a currency, e.g. 12.99EUR")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_and_dates_are_read_as_people_write_them() {
        for (text, amount, currency) in
            [("12.99EUR", 12.99, "EUR"), ("8 usd", 8.0, "USD"), ("6,81 EUR", 6.81, "EUR")]
        {
            assert_eq!(price(text), Ok(Price { amount, currency: currency.into() }));
        }
        for bad in ["EUR", "1,299 EUR", "1.299EUR", "1,299.00 EUR", "12", "-3EUR", "nanEUR", "12 €"] {
            assert!(price(bad).is_err(), "{bad}");
        }
        assert!(
            date("2024-03").is_ok()
                && date("2024-13").is_err()
                && date("2024-02-31").is_err()
                && date("2024-2-3").is_err()
                && date("24-03").is_err()
                && date("").is_err()
        );
    }
}
