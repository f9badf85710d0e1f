//! Structures that are read from bytes, as one table of fields: what each is called, how it is read and what it means.

/// A struct whose rows each say behind `=` how the field is read and then what it means, so that a row can be held
/// against the specification's table, and the function that reads it. A field may name those before it; what else they
/// share stands in the function's block.
macro_rules! decoded {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[$field_meta:meta])* $field:ident: $type:ty = $value:expr, $meaning:literal;)*
        }
        $(#[$fn_meta:meta])*
        $vis:vis fn $decode:ident($($argument:ident: $of:ty),*) { $($shared:tt)* }
    ) => {
        $(#[$meta])*
        pub struct $name {
            $(#[doc = $meaning] $(#[$field_meta])* pub $field: $type,)*
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
pub(crate) use decoded;
