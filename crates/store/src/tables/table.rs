//! A table on its way into files: a folder for each year, row groups written as they fill.

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

/// Rows of a row group: what DuckDB and Spark hand to one thread at a time, and some 20 MB of memory while it fills.
const GROUP_ROWS: usize = 65_536;

/// A row group ends sooner where its texts are long.
const GROUP_BYTES: usize = 32 << 20;

/// Bytes of a file after which the next one begins: what Spark reads as one part (`spark.sql.files.maxPartitionBytes`).
const FILE_BYTES: usize = 128 << 20;

/// Makes the file of a name such as `figures/year=2026/part-00000.parquet`.
pub(super) type MakeFile<'a> = dyn FnMut(&str) -> io::Result<File> + Send + 'a;

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableFile {
    /// Its table: `sessions`, `figures`, `series`, `findings` or `cards`. Not in the list of an export.
    #[serde(skip)]
    pub table: &'static str,
    /// Its name below the folder.
    pub name: String,
    /// Its rows.
    pub rows: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// Why the tables are not there.
#[derive(Debug, thiserror::Error)]
pub enum TablesError {
    /// The archive could not be read.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// A file could not be written.
    #[error("{0}")]
    File(#[source] io::Error),
    /// The caller stopped it.
    #[error("stopped")]
    Stopped,
}

/// A table.
pub(super) struct ExportTable {
    name: &'static str,
    schema: TypePtr,
    properties: WriterPropertiesPtr,
    columns: TableColumns,
    open: Option<OpenFile>,
    /// Files of each year so far.
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
    /// A table without rows; its columns are in Parquet's notation.
    pub(super) fn new(name: &'static str, columns: &[&str]) -> io::Result<Self> {
        let schema = format!("message {name} {{ {} }}", columns.join(" "));
        let schema = Arc::new(parse_message_type(&schema).map_err(of_parquet)?);
        let descriptor = SchemaDescriptor::new(Arc::clone(&schema));
        let columns = TableColumns::of(&descriptor).map_err(of_parquet)?;
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_encoding(Encoding::PLAIN)
            .set_created_by(concat!("cardscope ", env!("CARGO_PKG_VERSION")).to_owned());
        for column in descriptor.columns() {
            // Speeds and latencies hardly repeat: a dictionary of them is made and thrown away.
            if column.physical_type() == parquet::basic::Type::DOUBLE {
                properties = properties.set_column_dictionary_enabled(column.path().clone(), false);
            }
        }
        let properties = Arc::new(properties.build());
        Ok(ExportTable {
            name,
            schema,
            properties,
            columns,
            open: None,
            parts: HashMap::new(),
            written: Vec::new(),
        })
    }

    /// The name of the file that has to be begun before a row of this year is added; those of a table that is not divided
    /// have no year.
    pub(super) fn place_for(&mut self, year: Option<i16>) -> Option<String> {
        if self.open.as_ref().is_some_and(|open| open.year == year) {
            return None;
        }
        let part = self.parts.entry(year).or_default();
        let folder = year.map(|year| format!("/year={year:04}")).unwrap_or_default();
        let name = format!("{}{folder}/part-{part:05}.parquet", self.name);
        *part += 1;
        Some(name)
    }

    /// Begins a file, and ends the one before it.
    pub(super) fn begin(&mut self, year: Option<i16>, name: String, file: File) -> io::Result<()> {
        self.close()?;
        let (schema, properties) = (Arc::clone(&self.schema), Arc::clone(&self.properties));
        let writer = SerializedFileWriter::new(file, schema, properties).map_err(of_parquet)?;
        self.open = Some(OpenFile { year, writer, name, rows: 0 });
        Ok(())
    }

    /// Adds a row to the file that is open.
    pub(super) fn push(&mut self, row: &[ColumnCell<'_>]) -> io::Result<()> {
        self.columns.push(row).map_err(of_parquet)?;
        if self.columns.rows() >= GROUP_ROWS || self.columns.bytes() >= GROUP_BYTES {
            self.write_group()?;
        }
        if self.open.as_ref().is_some_and(|open| open.writer.bytes_written() >= FILE_BYTES) {
            self.close()?;
        }
        Ok(())
    }

    /// Ends the table; a table without rows has a file with its columns, so that no engine lacks it. Its files.
    pub(super) fn finish(
        mut self,
        empty: Option<i16>,
        make: &mut MakeFile<'_>,
    ) -> io::Result<Vec<TableFile>> {
        if self.parts.is_empty()
            && let Some(name) = self.place_for(empty)
        {
            let file = make(&name)?;
            self.begin(empty, name, file)?;
        }
        self.close()?;
        Ok(self.written)
    }

    fn write_group(&mut self) -> io::Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        if self.columns.rows() > 0 {
            open.rows += self.columns.rows() as u64;
            let group = open.writer.next_row_group().map_err(of_parquet)?;
            self.columns.write(group).map_err(of_parquet)?;
        }
        Ok(())
    }

    /// Ends the file that is open; it is on disk then.
    fn close(&mut self) -> io::Result<()> {
        self.write_group()?;
        let Some(OpenFile { mut writer, name, rows, .. }) = self.open.take() else { return Ok(()) };
        writer.finish().map_err(of_parquet)?;
        let file = writer.inner();
        file.sync_all()?;
        let bytes = file.metadata()?.len();
        self.written.push(TableFile { table: self.name, name, rows, bytes });
        Ok(())
    }
}

/// What the library says of the system is what the system said.
fn of_parquet(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        other => io::Error::other(other),
    }
}
