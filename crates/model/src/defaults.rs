//! Structs whose defaults are not all zero, and enums with words for output, each as one list.

/// A struct and its `Default`: each field says behind `=` what it is where nothing is given.
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

/// An enum whose variants each say behind `=` the word or words for them in output, and the function that gives them.
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
            /// As it stands in output.
            pub fn $function(self) -> &'static str {
                match self {
                    $($name::$variant => $words,)*
                }
            }
        }
    };
}
