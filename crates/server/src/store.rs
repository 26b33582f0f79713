//! What outlives the process: assessments and the state of jobs, in one file. Calls read and write it: not for the threads of
//! the runtime.

use std::path::Path;

use redb::{Database, ReadableDatabase as _, ReadableTable as _, ReadableTableMetadata as _, TableDefinition};

type Table = TableDefinition<'static, &'static str, &'static [u8]>;

/// Whole answers by id.
const ASSESSMENTS: Table = TableDefinition::new("assessments");
/// The rows of their list by id.
const ROWS: Table = TableDefinition::new("assessment_rows");
/// Jobs by id.
const JOBS: Table = TableDefinition::new("jobs");

/// Why the file cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub struct StoreError {
    reason: String,
}

impl<E: Into<redb::Error>> From<E> for StoreError {
    fn from(error: E) -> Self {
        let reason = match error.into() {
            redb::Error::DatabaseAlreadyOpen => {
                "another server uses this data folder: stop it, or name another one as server.data_dir".to_owned()
            }
            other => other.to_string(),
        };
        Self { reason }
    }
}

impl From<StoreError> for crate::error::Problem {
    fn from(error: StoreError) -> Self {
        Self::internal(format!("the store cannot be used: {error}"))
    }
}

/// The file.
#[derive(Debug)]
pub struct Store {
    database: Database,
    kept: u64,
}

impl Store {
    /// Opens the file, or makes it; at most `kept` assessments stay.
    pub fn open(path: &Path, kept: u64) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(redb::Error::Io)?;
        }
        let database = Database::create(path)?;
        let write = database.begin_write()?;
        for table in [ASSESSMENTS, ROWS, JOBS] {
            write.open_table(table)?;
        }
        write.commit()?;
        Ok(Self { database, kept })
    }

    /// Keeps an answer and its row of the list; the oldest are forgotten. Ids grow with time.
    pub fn keep_assessment(&self, id: &str, row: &[u8], answer: &[u8]) -> Result<(), StoreError> {
        let write = self.database.begin_write()?;
        {
            let (mut answers, mut rows) = (write.open_table(ASSESSMENTS)?, write.open_table(ROWS)?);
            answers.insert(id, answer)?;
            rows.insert(id, row)?;
            while answers.len()? > self.kept {
                answers.pop_first()?;
                rows.pop_first()?;
            }
        }
        Ok(write.commit()?)
    }

    /// The answer of an id.
    pub fn assessment(&self, id: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let table = self.database.begin_read()?.open_table(ASSESSMENTS)?;
        Ok(table.get(id)?.map(|answer| answer.value().to_vec()))
    }

    /// The rows of the list, newest first, those before an id.
    pub fn assessment_rows(&self, before: Option<&str>, limit: usize) -> Result<Vec<Vec<u8>>, StoreError> {
        let table = self.database.begin_read()?.open_table(ROWS)?;
        let found = match before {
            Some(before) => table.range(..before)?,
            None => table.range::<&str>(..)?,
        };
        let rows = found.rev().take(limit).map(|row| row.map(|(_, row)| row.value().to_vec()));
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Keeps the state of a job.
    pub fn keep_job(&self, id: &str, job: &[u8]) -> Result<(), StoreError> {
        let write = self.database.begin_write()?;
        write.open_table(JOBS)?.insert(id, job)?;
        Ok(write.commit()?)
    }

    /// Forgets a job.
    pub fn remove_job(&self, id: &str) -> Result<(), StoreError> {
        let write = self.database.begin_write()?;
        write.open_table(JOBS)?.remove(id)?;
        Ok(write.commit()?)
    }

    /// All jobs, oldest first.
    pub fn jobs(&self) -> Result<Vec<Vec<u8>>, StoreError> {
        let table = self.database.begin_read()?.open_table(JOBS)?;
        let jobs = table.iter()?.map(|job| job.map(|(_, job)| job.value().to_vec()));
        Ok(jobs.collect::<Result<_, _>>()?)
    }
}

/// A new id; ids grow with time and no two are the same.
pub fn new_id() -> String {
    format!("{:012x}{:012x}", jiff::Timestamp::now().as_millisecond(), fastrand::u64(..1 << 48))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_come_first_and_the_oldest_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/store.redb");
        let store = Store::open(&path, 3).unwrap();
        for id in ["a", "b", "c", "d"] {
            store.keep_assessment(id, format!("row {id}").as_bytes(), format!("answer {id}").as_bytes()).unwrap();
        }
        let rows = |before, limit| -> Vec<String> {
            let rows = store.assessment_rows(before, limit).unwrap();
            rows.into_iter().map(|row| String::from_utf8(row).unwrap()).collect()
        };
        assert_eq!(rows(None, 10), ["row d", "row c", "row b"]);
        assert_eq!(rows(Some("d"), 1), ["row c"]);
        assert_eq!(store.assessment("a").unwrap(), None);
        assert_eq!(store.assessment("b").unwrap().unwrap(), b"answer b");
        let second = Store::open(&path, 3).unwrap_err().to_string();
        assert!(second.contains("another server"), "{second}");
    }

    #[test]
    fn ids_grow_and_differ() {
        let first = new_id();
        std::thread::sleep(std::time::Duration::from_millis(2));
        let second = new_id();
        assert!(first < second && first.len() == 24);
    }
}
