//! Documents, recipes, jobs and units of Cardscope as plain types.
//!
//! No I/O and no clock. All other crates use these types, so that a name means the same in the code, in the output
//! and in `docs/`.
#![forbid(unsafe_code)]

/// Defines a struct and its `Default`; each field has its default after `=`.
#[macro_export]
macro_rules! with_defaults {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[$field_meta:meta])* pub $field:ident: $type:ty = $value:expr,)*
        }
    ) => {
        $(#[$meta])*
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $value,)* }
            }
        }
    };
}

/// Defines an enum whose variants have their output text after `=`, and the function that returns it.
#[macro_export]
macro_rules! worded {
    (
        $(#[$meta:meta])*
        pub enum $name:ident: $function:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $words:literal,)*
        }
    ) => {
        $(#[$meta])*
        pub enum $name {
            $(#[doc = concat!("“", $words, "”.")] $(#[$variant_meta])* $variant,)*
        }

        impl $name {
            /// Returns the text for output.
            pub fn $function(self) -> &'static str {
                match self {
                    $($name::$variant => $words,)*
                }
            }
        }
    };
}

pub mod aggregate;
pub mod answer;
pub mod archive_rows;
pub mod builtin_names;
pub mod capacity;
pub mod card;
pub mod card_details;
pub mod card_map;
pub mod caveat;
pub mod check;
pub mod collection;
pub mod comparison;
pub mod condition;
pub mod device;
pub mod doctor;
pub mod endure;
pub mod finding;
pub mod flashbench;
pub mod format;
pub mod histogram;
pub mod host;
pub mod identity;
pub mod import_report;
pub mod job;
pub mod json;
pub mod label_check;
pub mod log;
pub mod mark_result;
pub mod observe;
pub mod present_layout;
pub mod progress;
pub mod publication;
pub mod random;
pub mod ranking;
pub mod recipe;
pub mod register_checks;
pub mod report;
pub mod restore;
pub mod result;
pub mod run;
pub mod series;
pub mod session_file;
pub mod setting;
pub mod shell;
pub mod statistics;
pub mod supply;
pub mod suspect_reader;
pub mod sustain;
pub mod test_name;
pub mod toml_error;
pub mod units;
pub mod untrusted_text;
pub mod usb;
pub mod verify;
