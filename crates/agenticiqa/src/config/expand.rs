//! Expands `${NAME}` and `${NAME:-default}` in values of files.
//!
//! The YAML crate expands only unquoted values, but quoted ones are common. Expansion is done on
//! parsed values, so comments and line numbers are not affected.

/// Replaces the variables in `text`. `$${` means a literal `${`. Values are not expanded again.
pub(super) fn expand(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let before = &rest[..start];
        let after = &rest[start + 2..];
        if let Some(plain) = before.strip_suffix('$') {
            expanded.push_str(plain);
            expanded.push_str("${");
            rest = after;
            continue;
        }
        expanded.push_str(before);
        let (reference, behind) = after.split_once('}').ok_or("${ without }; write $${ for a plain ${")?;
        let (name, default) = match reference.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (reference, None),
        };
        if !is_variable_name(name) {
            return Err(
                "between ${ and } stands the name of an environment variable, as in ${NAME} or ${NAME:-default}".into(),
            );
        }
        match lookup(name).or_else(|| default.map(str::to_owned)) {
            Some(value) => expanded.push_str(&value),
            None => {
                return Err(format!(
                    "the environment variable {name} is not set: set it, or write ${{{name}:-default}}"
                ));
            }
        }
        rest = behind;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

/// Returns whether a text is a valid name of an environment variable.
pub(super) fn is_variable_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(name: &str) -> Option<String> {
        (name == "HOST").then(|| "a${B}".to_owned())
    }

    #[test]
    fn variables_defaults_and_escapes() {
        for (text, expected) in [
            ("plain $HOST", "plain $HOST"),
            ("http://${HOST}/v1", "http://a${B}/v1"),
            ("${PORT:-8000}", "8000"),
            ("${PORT:-}", ""),
            ("${HOST:-b}${PORT:-http://c:1}", "a${B}http://c:1"),
            ("$${HOST} ${HOST}", "${HOST} a${B}"),
        ] {
            assert_eq!(expand(text, &lookup).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_expanded_says_why() {
        for (text, says) in
            [("${PORT}", "PORT is not set"), ("${PORT", "without }"), ("${a b}", "name"), ("${}", "name")]
        {
            let error = expand(text, &lookup).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
