//! Structures that are read from bytes, as one list of fields: what each is called, what it means and how it is read.

/// A struct whose fields each say behind `=` how they are read, so that a line can be held against the specification's
/// table, and the function that reads it. A field may name those before it; what else they share stands in the
/// function's block.
macro_rules! decoded {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[$field_meta:meta])* pub $field:ident: $type:ty = $value:expr,)*
        }
        $(#[$fn_meta:meta])*
        $vis:vis fn $decode:ident($($argument:ident: $of:ty),*) { $($shared:tt)* }
    ) => {
        $(#[$meta])*
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)*
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
