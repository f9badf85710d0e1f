//! Structs whose defaults are not all zero, as one list of fields.

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
