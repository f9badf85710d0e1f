//! Macros for structs with non-zero defaults and for enums with output words.

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
