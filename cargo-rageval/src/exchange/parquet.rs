//! Tables in Parquet, row by row, without Arrow.

use std::{fs::File, path::Path, sync::Arc};

use parquet::{
    basic::Compression,
    data_type::{ByteArray, ByteArrayType},
    errors::ParquetError,
    file::{
        properties::WriterProperties,
        reader::{FileReader as _, SerializedFileReader},
        writer::SerializedFileWriter,
    },
    record::{Field, Row},
    schema::parser::parse_message_type,
};
use rageval_runner::{
    load::plain::{Located, Value},
    model::Place,
};
use serde_json::Value as Json;

use super::{Wrong, ragas};

/// Every row as a map. The place is the row, counted from 1. NaN, which pandas writes for what is missing, is nothing.
pub(crate) fn rows(path: &Path) -> Result<Vec<Located>, Wrong> {
    let wrong = |error: &dyn std::fmt::Display| Wrong(format!("{}: {error}", path.display()));
    let file = File::open(path).map_err(|error| wrong(&error))?;
    let not_read = |error: ParquetError| match error {
        ParquetError::NYI(text) if text.contains("codec") => {
            wrong(&format!("its compression is not read ({text}); write it with compression=\"snappy\""))
        }
        error => wrong(&error),
    };
    let reader = SerializedFileReader::new(file).map_err(not_read)?;
    let mut rows = Vec::new();
    for (number, row) in (1..).zip(reader.get_row_iter(None).map_err(not_read)?) {
        let place = Place { file: path.display().to_string(), line: number, column: 1 };
        rows.push(map(&row.map_err(not_read)?, &place));
    }
    Ok(rows)
}

fn map(row: &Row, place: &Place) -> Located {
    let entries = row.get_column_iter().map(|(name, field)| (name.clone(), value(field, place))).collect();
    Located { place: place.clone(), value: Value::Map(entries) }
}

fn value(field: &Field, place: &Place) -> Located {
    let value = match field {
        Field::Null => Value::Null,
        Field::Bool(yes) => Value::Bool(*yes),
        Field::Str(text) => Value::Text(text.clone()),
        Field::Bytes(bytes) => match std::str::from_utf8(bytes.data()) {
            Ok(text) => Value::Text(text.to_owned()),
            Err(_) => Value::Text(field.to_string()),
        },
        Field::Float(number) if number.is_nan() => Value::Null,
        Field::Double(number) if number.is_nan() => Value::Null,
        Field::Float(number) => Value::Number(number.to_string()),
        // An integer of a column in which something is missing is a float in pandas.
        Field::Double(number) => Value::Number(number.to_string()),
        Field::Byte(number) => Value::Number(number.to_string()),
        Field::Short(number) => Value::Number(number.to_string()),
        Field::Int(number) => Value::Number(number.to_string()),
        Field::Long(number) => Value::Number(number.to_string()),
        Field::UByte(number) => Value::Number(number.to_string()),
        Field::UShort(number) => Value::Number(number.to_string()),
        Field::UInt(number) => Value::Number(number.to_string()),
        Field::ULong(number) => Value::Number(number.to_string()),
        Field::Group(row) => map(row, place).value,
        Field::ListInternal(list) => Value::List(list.elements().iter().map(|item| self::value(item, place)).collect()),
        // Days, times, decimals and maps have no place in a sample; they become metadata as they are printed.
        other => Value::Text(other.to_string().trim_matches('"').to_owned()),
    };
    Located { place: place.clone(), value }
}

/// A table of RAGAS rows: texts, and lists of texts, compressed with Snappy.
pub(crate) fn write(rows: &[Json]) -> Vec<u8> {
    let columns = ragas::used(rows);
    let field = |(name, is_list): &(&str, bool)| {
        if *is_list {
            format!("optional group {name} (LIST) {{ repeated group list {{ optional binary element (UTF8); }} }}")
        } else {
            format!("optional binary {name} (UTF8);")
        }
    };
    let schema = format!("message schema {{ {} }}", columns.iter().map(field).collect::<Vec<_>>().join(" "));
    write_columns(rows, &columns, &schema).expect("a vector takes a table of texts")
}

fn write_columns(rows: &[Json], columns: &[(&str, bool)], schema: &str) -> Result<Vec<u8>, ParquetError> {
    let schema = Arc::new(parse_message_type(schema)?);
    let properties = Arc::new(WriterProperties::builder().set_compression(Compression::SNAPPY).build());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties)?;
    let mut group = writer.next_row_group()?;
    for (name, is_list) in columns {
        let column = if *is_list { lists(rows, name) } else { texts(rows, name) };
        let mut open = group.next_column()?.ok_or_else(|| ParquetError::General("a column is missing".to_owned()))?;
        open.typed::<ByteArrayType>().write_batch(
            &column.values,
            Some(&column.definition),
            is_list.then_some(&column.repetition[..]),
        )?;
        open.close()?;
    }
    group.close()?;
    writer.into_inner()
}

/// A column as Parquet takes it: the values that are there, and for each place how much of the path to it is there (definition), and
/// where in the path a list goes on (repetition).
#[derive(Default)]
struct Column {
    values: Vec<ByteArray>,
    definition: Vec<i16>,
    repetition: Vec<i16>,
}

fn texts(rows: &[Json], name: &str) -> Column {
    let mut column = Column::default();
    for row in rows {
        let text = row.get(name).and_then(Json::as_str);
        column.definition.push(i16::from(text.is_some()));
        column.values.extend(text.map(ByteArray::from));
    }
    column
}

fn lists(rows: &[Json], name: &str) -> Column {
    const NO_LIST: i16 = 0;
    const EMPTY: i16 = 1;
    const TEXT: i16 = 3;
    let mut column = Column::default();
    for row in rows {
        let items = row.get(name).and_then(Json::as_array);
        let texts: Vec<&str> = items.into_iter().flatten().filter_map(Json::as_str).collect();
        if texts.is_empty() {
            column.definition.push(if items.is_some() { EMPTY } else { NO_LIST });
            column.repetition.push(0);
        }
        for (i, text) in texts.into_iter().enumerate() {
            column.definition.push(TEXT);
            column.repetition.push(i16::from(i > 0));
            column.values.push(ByteArray::from(text));
        }
    }
    column
}
