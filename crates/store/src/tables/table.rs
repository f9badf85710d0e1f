//! Writes one table as Parquet files: a folder for each year, row groups as they fill.

use super::columns::{ColumnCell, TableColumns};
use crate::ArchiveError;
use parquet::basic::{Compression, Encoding};
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{SchemaDescriptor, TypePtr};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::sync::Arc;

/// Rows of a row group: the unit of work of a thread in DuckDB and Spark, about 20 MB of memory.
const GROUP_ROWS: usize = 65_536;

/// Size of a row group in bytes, reached first if texts are long.
const GROUP_BYTES: usize = 32 << 20;

/// Size in bytes after which a new file begins: one Spark partition (`spark.sql.files.maxPartitionBytes`).
const FILE_BYTES: usize = 128 << 20;

/// Creates the file of a name such as `figures/year=2026/part-00000.parquet`.
pub(super) type MakeFile<'a> = dyn FnMut(&str) -> io::Result<File> + Send + 'a;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableFile {
    /// `sessions`, `figures`, `series`, `findings` or `cards`. Not in the list of an export.
    #[serde(skip)]
    pub table: &'static str,
    /// Path below the folder.
    pub name: String,
    pub rows: u64,
    pub bytes: u64,
}

/// Reason why an export failed.
#[derive(Debug, thiserror::Error)]
pub enum TablesError {
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error("{0}")]
    File(#[source] io::Error),
    #[error("stopped")]
    Stopped,
}

pub(super) struct ExportTable {
    name: &'static str,
    schema: TypePtr,
    properties: WriterPropertiesPtr,
    columns: TableColumns,
    open: Option<OpenFile>,
    /// Number of files for each year.
    parts: HashMap<Option<i16>, u32>,
    written: Vec<TableFile>,
}

struct OpenFile {
    year: Option<i16>,
    writer: SerializedFileWriter<File>,
    name: String,
    rows: u64,
}

impl ExportTable {
    /// Creates an empty table; `columns` are in Parquet's notation.
    pub(super) fn new(name: &'static str, columns: &[&str]) -> io::Result<Self> {
        let schema = format!("message {name} {{ {} }}", columns.join(" "));
        let schema = Arc::new(parse_message_type(&schema).map_err(from_parquet)?);
        let descriptor = SchemaDescriptor::new(Arc::clone(&schema));
        let columns = TableColumns::new(&descriptor).map_err(from_parquet)?;
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_encoding(Encoding::PLAIN)
            .set_created_by(concat!("cardscope ", env!("CARGO_PKG_VERSION")).to_owned());
        for column in descriptor.columns() {
            // Speeds and latencies hardly repeat, so a dictionary would be built and thrown away.
            if column.physical_type() == parquet::basic::Type::DOUBLE {
                properties = properties.set_column_dictionary_enabled(column.path().clone(), false);
            }
        }
        let properties = Arc::new(properties.build());
        let (parts, written) = (HashMap::new(), Vec::new());
        Ok(ExportTable { name, schema, properties, columns, open: None, parts, written })
    }

    /// Begins a file and closes the one before. Undivided tables have no year.
    fn begin_file(&mut self, year: Option<i16>, make: &mut MakeFile<'_>) -> io::Result<()> {
        let part = self.parts.entry(year).or_default();
        let folder = year.map(|year| format!("/year={year:04}")).unwrap_or_default();
        let name = format!("{}{folder}/part-{part:05}.parquet", self.name);
        *part += 1;
        let file = make(&name)?;
        self.close_file()?;
        let (schema, properties) = (Arc::clone(&self.schema), Arc::clone(&self.properties));
        let writer = SerializedFileWriter::new(file, schema, properties).map_err(from_parquet)?;
        self.open = Some(OpenFile { year, writer, name, rows: 0 });
        Ok(())
    }

    /// Adds a row to the file of its year.
    pub(super) fn push(
        &mut self,
        year: Option<i16>,
        row: &[ColumnCell<'_>],
        make: &mut MakeFile<'_>,
    ) -> io::Result<()> {
        if self.open.as_ref().is_none_or(|open| open.year != year) {
            self.begin_file(year, make)?;
        }
        self.columns.push(row).map_err(from_parquet)?;
        if self.columns.rows >= GROUP_ROWS || self.columns.bytes >= GROUP_BYTES {
            self.write_group()?;
        }
        if self.open.as_ref().is_some_and(|open| open.writer.bytes_written() >= FILE_BYTES) {
            self.close_file()?;
        }
        Ok(())
    }

    /// Closes the table and returns its files. A table without rows gets one empty file, so that engines find it.
    pub(super) fn finish(mut self, year: Option<i16>, make: &mut MakeFile<'_>) -> io::Result<Vec<TableFile>> {
        if self.parts.is_empty() {
            self.begin_file(year, make)?;
        }
        self.close_file()?;
        Ok(self.written)
    }

    fn write_group(&mut self) -> io::Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        if self.columns.rows > 0 {
            open.rows += self.columns.rows as u64;
            let group = open.writer.next_row_group().map_err(from_parquet)?;
            self.columns.write(group).map_err(from_parquet)?;
        }
        Ok(())
    }

    /// Closes and syncs the open file.
    fn close_file(&mut self) -> io::Result<()> {
        self.write_group()?;
        let Some(OpenFile { mut writer, name, rows, .. }) = self.open.take() else { return Ok(()) };
        writer.finish().map_err(from_parquet)?;
        let file = writer.inner();
        file.sync_all()?;
        let bytes = file.metadata()?.len();
        self.written.push(TableFile { table: self.name, name, rows, bytes });
        Ok(())
    }
}

/// Unwraps the system's error from that of the library.
fn from_parquet(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        other => io::Error::other(other),
    }
}
