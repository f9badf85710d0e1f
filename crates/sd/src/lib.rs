#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

/// Defines a struct and the function that decodes it. Each row has the field, the expression that decodes it and, if
/// the name does not say all, its meaning, so that it can be checked against the specification's table. An expression may use the fields above it
/// and the variables of the function's block.
macro_rules! decoded {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[$field_meta:meta])* $field:ident: $type:ty = $value:expr $(, $meaning:literal)?;)*
        }
        $(#[$fn_meta:meta])*
        $vis:vis fn $decode:ident($($argument:ident: $of:ty),*) { $($shared:tt)* }
    ) => {
        $(#[$meta])*
        pub struct $name {
            $($(#[doc = $meaning])? $(#[$field_meta])* pub $field: $type,)*
        }

        impl $name {
            $(#[$fn_meta])*
            $vis fn $decode($($argument: $of),*) -> Self {
                $($shared)*
                $(let $field: $type = $value;)*
                $name { $($field,)* }
            }
        }
    };
}

pub mod bus;
pub mod health;
pub mod label;
pub mod layout;
pub mod maker;
pub mod mark;
pub mod nvme;
pub mod registers;
