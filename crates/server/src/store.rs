//! The database of assessments and jobs, in one file. All methods block: do not call them on a
//! thread of the async runtime.

use std::io::ErrorKind;
use std::path::Path;

use redb::{Database, ReadableDatabase as _, ReadableTable as _, ReadableTableMetadata as _, TableDefinition};

type Table = TableDefinition<'static, &'static str, &'static [u8]>;

/// Full answers by ID.
const ASSESSMENTS: Table = TableDefinition::new("assessments");
/// Entries of the assessment list by ID.
const ROWS: Table = TableDefinition::new("assessment_rows");
/// Jobs by ID.
const JOBS: Table = TableDefinition::new("jobs");

/// An error of the database.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub struct StoreError {
    reason: String,
}

impl<E: Into<redb::Error>> From<E> for StoreError {
    fn from(error: E) -> Self {
        let reason = match error.into() {
            redb::Error::DatabaseAlreadyOpen => {
                "another server uses this data folder: stop it, or set server.data_dir to another folder".to_owned()
            }
            other => other.to_string(),
        };
        Self { reason }
    }
}

impl From<StoreError> for crate::error::Problem {
    fn from(error: StoreError) -> Self {
        Self::internal(format!("cannot use the store: {error}"))
    }
}

/// The database.
#[derive(Debug)]
pub struct Store {
    database: Database,
    kept: u64,
}

impl Store {
    /// Opens or creates the database. It stores at most `kept` assessments.
    pub fn open(path: &Path, kept: u64) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(redb::Error::Io)?;
        }
        let database = Database::create(path).map_err(|error| Self::explain(error, path))?;
        let write = database.begin_write()?;
        for table in [ASSESSMENTS, ROWS, JOBS] {
            write.open_table(table)?;
        }
        write.commit()?;
        Ok(Self { database, kept })
    }

    /// Adds what to do with a file that is damaged or no database. Records of jobs are in files of
    /// their own.
    fn explain(error: redb::DatabaseError, path: &Path) -> StoreError {
        let damaged = match &error {
            redb::DatabaseError::Storage(redb::StorageError::Io(error)) => {
                matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof)
            }
            redb::DatabaseError::Storage(redb::StorageError::Corrupted(_))
            | redb::DatabaseError::RepairAborted
            | redb::DatabaseError::UpgradeRequired(_) => true,
            _ => false,
        };
        let StoreError { reason } = error.into();
        if !damaged {
            return StoreError { reason };
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let reason = format!(
            "{name} is damaged ({reason}): move this file away and start again; the records of jobs stay in the folder \
             jobs, but the lists of jobs and assessments start empty"
        );
        StoreError { reason }
    }

    /// Stores an answer and its list entry, and removes the oldest beyond the limit.
    ///
    /// IDs grow with time, so the smallest ID is the oldest.
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

    /// Returns an answer by ID.
    pub fn assessment(&self, id: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let table = self.database.begin_read()?.open_table(ASSESSMENTS)?;
        Ok(table.get(id)?.map(|answer| answer.value().to_vec()))
    }

    /// Returns list entries, newest first, optionally only those before an ID.
    pub fn assessment_rows(&self, before: Option<&str>, limit: usize) -> Result<Vec<Vec<u8>>, StoreError> {
        let table = self.database.begin_read()?.open_table(ROWS)?;
        let found = match before {
            Some(before) => table.range(..before)?,
            None => table.range::<&str>(..)?,
        };
        let rows = found.rev().take(limit).map(|row| row.map(|(_, row)| row.value().to_vec()));
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Stores the state of a job.
    pub fn keep_job(&self, id: &str, job: &[u8]) -> Result<(), StoreError> {
        let write = self.database.begin_write()?;
        write.open_table(JOBS)?.insert(id, job)?;
        Ok(write.commit()?)
    }

    /// Removes a job.
    pub fn remove_job(&self, id: &str) -> Result<(), StoreError> {
        let write = self.database.begin_write()?;
        write.open_table(JOBS)?.remove(id)?;
        Ok(write.commit()?)
    }

    /// Returns all jobs, oldest first.
    pub fn jobs(&self) -> Result<Vec<Vec<u8>>, StoreError> {
        let table = self.database.begin_read()?.open_table(JOBS)?;
        let jobs = table.iter()?.map(|job| job.map(|(_, job)| job.value().to_vec()));
        Ok(jobs.collect::<Result<_, _>>()?)
    }
}

/// Returns a new unique ID. IDs grow with time.
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
    fn a_damaged_database_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server.redb");
        for content in [&b"not a database at all"[..], &[0; 8192]] {
            std::fs::write(&path, content).unwrap();
            let error = Store::open(&path, 3).unwrap_err().to_string();
            assert!(error.contains("server.redb is damaged") && error.contains("move this file away"), "{error}");
        }
    }

    #[test]
    fn ids_grow_and_differ() {
        let first = new_id();
        std::thread::sleep(std::time::Duration::from_millis(2));
        let second = new_id();
        assert!(first < second && first.len() == 24);
    }
}
