//! Buffers rows as the columns of a Parquet row group.

use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::writer::{SerializedColumnWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};
use std::borrow::Cow;
use std::fs::File;

#[derive(Debug)]
pub(super) enum ColumnCell<'a> {
    Missing,
    Text(Cow<'a, str>),
    Integer(i64),
    Real(f64),
    Truth(bool),
    TextList(&'a [String]),
}

macro_rules! cells {
    ($($kind:ident: $($from:ty => |$it:ident| $inner:expr),+;)+) => {
        $($(impl<'a> From<$from> for ColumnCell<'a> {
            fn from($it: $from) -> Self {
                ColumnCell::$kind($inner)
            }
        })+)+
    };
}

cells! {
    Text: &'a str => |text| text.into(), &'a String => |text| text.into(), String => |text| text.into();
    Integer: i64 => |number| number, u32 => |number| i64::from(number), u64 => |number| clamp_to_i64(number);
    Real: f64 => |number| number;
    Truth: bool => |truth| truth;
    TextList: &'a [String] => |texts| texts;
}

impl<'a, T: Into<ColumnCell<'a>>> From<Option<T>> for ColumnCell<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(ColumnCell::Missing, T::into)
    }
}

impl<'a> From<&'a Option<String>> for ColumnCell<'a> {
    fn from(text: &'a Option<String>) -> Self {
        text.as_deref().into()
    }
}

/// Clamps at 2^63 - 1, which no count of bytes reaches.
fn clamp_to_i64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Values of a column; missing ones are left out.
#[derive(Debug)]
enum ColumnValues {
    Text(Vec<ByteArray>),
    Int(Vec<i32>),
    Long(Vec<i64>),
    Real(Vec<f64>),
    Truth(Vec<bool>),
}

#[derive(Debug)]
struct ColumnBuilder {
    values: ColumnValues,
    /// Definition levels: 1 where a row has a value. Empty for a required column.
    definitions: Vec<i16>,
    /// Repetition levels of a column of lists: 0 where a row begins.
    repetitions: Vec<i16>,
    optional: bool,
    lists: bool,
    name: String,
}

impl ColumnBuilder {
    fn new(descriptor: &ColumnDescriptor) -> Result<Self> {
        use parquet::basic::Type;
        let values = match descriptor.physical_type() {
            Type::BYTE_ARRAY => ColumnValues::Text(Vec::new()),
            Type::INT32 => ColumnValues::Int(Vec::new()),
            Type::INT64 => ColumnValues::Long(Vec::new()),
            Type::DOUBLE => ColumnValues::Real(Vec::new()),
            Type::BOOLEAN => ColumnValues::Truth(Vec::new()),
            other => return Err(ParquetError::NYI(other.to_string())),
        };
        Ok(ColumnBuilder {
            values,
            definitions: Vec::new(),
            repetitions: Vec::new(),
            optional: descriptor.max_def_level() > 0,
            lists: descriptor.max_rep_level() > 0,
            name: descriptor.path().string(),
        })
    }

    /// Adds a value; returns the bytes of memory that it takes.
    fn push(&mut self, cell: &ColumnCell<'_>) -> Result<usize> {
        if let ColumnCell::TextList(texts) = cell {
            return Ok(self.push_list(texts));
        }
        let bytes = self.push_value(cell)?;
        if self.optional {
            self.definitions.push(i16::from(bytes > 0));
        } else if bytes == 0 {
            return Err(ParquetError::General(format!("the column {} lacks a value", self.name)));
        }
        Ok(bytes)
    }

    fn push_value(&mut self, cell: &ColumnCell<'_>) -> Result<usize> {
        match (&mut self.values, cell) {
            (_, ColumnCell::Missing) => return Ok(0),
            (ColumnValues::Text(all), ColumnCell::Text(text)) => return Ok(push_text(all, text)),
            (ColumnValues::Int(all), ColumnCell::Integer(number)) => {
                all.push(i32::try_from(*number).unwrap_or(i32::MAX))
            }
            (ColumnValues::Long(all), ColumnCell::Integer(number)) => all.push(*number),
            (ColumnValues::Real(all), ColumnCell::Real(number)) => all.push(*number),
            (ColumnValues::Truth(all), ColumnCell::Truth(truth)) => all.push(*truth),
            (_, cell) => {
                let why = format!("the column {} is not one of {cell:?}", self.name);
                return Err(ParquetError::General(why));
            }
        }
        Ok(size_of::<i64>())
    }

    /// An empty list has a definition level of 0 and no value.
    fn push_list(&mut self, texts: &[String]) -> usize {
        let ColumnValues::Text(all) = &mut self.values else { return 0 };
        if texts.is_empty() {
            self.definitions.push(0);
            self.repetitions.push(0);
        }
        let mut bytes = size_of::<i64>();
        for (place, text) in texts.iter().enumerate() {
            self.definitions.push(1);
            self.repetitions.push(i16::from(place > 0));
            bytes += push_text(all, text);
        }
        bytes
    }

    /// Writes and clears the values.
    fn write(&mut self, to: &mut SerializedColumnWriter<'_>) -> Result<()> {
        let definitions = std::mem::take(&mut self.definitions);
        let definitions = (self.optional || self.lists).then_some(&definitions[..]);
        let repetitions = std::mem::take(&mut self.repetitions);
        let repetitions = self.lists.then_some(&repetitions[..]);
        macro_rules! batch {
            ($writer:expr, $values:expr) => {
                $writer.write_batch(&std::mem::take($values), definitions, repetitions)
            };
        }
        match (to.untyped(), &mut self.values) {
            (ColumnWriter::ByteArrayColumnWriter(w), ColumnValues::Text(values)) => batch!(w, values),
            (ColumnWriter::Int32ColumnWriter(w), ColumnValues::Int(values)) => batch!(w, values),
            (ColumnWriter::Int64ColumnWriter(w), ColumnValues::Long(values)) => batch!(w, values),
            (ColumnWriter::DoubleColumnWriter(w), ColumnValues::Real(values)) => batch!(w, values),
            (ColumnWriter::BoolColumnWriter(w), ColumnValues::Truth(values)) => batch!(w, values),
            _ => Err(ParquetError::General(format!("the column {} has changed its type", self.name))),
        }
        .map(drop)
    }
}

/// Repeated values, which are frequent, share one buffer.
fn push_text(all: &mut Vec<ByteArray>, text: &str) -> usize {
    let same = all.last().filter(|last| last.data() == text.as_bytes()).cloned();
    let bytes = if same.is_some() { 0 } else { text.len() };
    all.push(same.unwrap_or_else(|| ByteArray::from(text)));
    size_of::<ByteArray>() + bytes
}

#[derive(Debug)]
pub(super) struct TableColumns {
    columns: Vec<ColumnBuilder>,
    pub(super) rows: usize,
    /// Estimated memory of the rows.
    pub(super) bytes: usize,
}

impl TableColumns {
    pub(super) fn new(schema: &SchemaDescriptor) -> Result<Self> {
        let columns = schema.columns().iter().map(|column| ColumnBuilder::new(column));
        Ok(TableColumns { columns: columns.collect::<Result<_>>()?, rows: 0, bytes: 0 })
    }

    /// Adds a row with one cell for each column.
    pub(super) fn push(&mut self, row: &[ColumnCell<'_>]) -> Result<()> {
        if row.len() != self.columns.len() {
            return Err(ParquetError::IndexOutOfBound(row.len(), self.columns.len()));
        }
        for (column, cell) in self.columns.iter_mut().zip(row) {
            self.bytes += column.push(cell)?;
        }
        self.rows += 1;
        Ok(())
    }

    /// Writes the rows as a row group and clears them.
    pub(super) fn write(&mut self, mut group: SerializedRowGroupWriter<'_, File>) -> Result<()> {
        for column in &mut self.columns {
            let mut writer = group.next_column()?.ok_or(ParquetError::IndexOutOfBound(0, self.rows))?;
            column.write(&mut writer)?;
            writer.close()?;
        }
        group.close()?;
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }
}
