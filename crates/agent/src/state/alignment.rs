//! Maps object names as a model writes them to the object names of the question.

use agenticiqa_metrics::Region;

use super::{GLOBAL, QueryScope, RegionBox, Text};

/// Returns the object of the question that `name` means, or the whole image if `name` matches none.
pub fn align(name: &str, scope: &QueryScope) -> Option<Text> {
    let fold = |name: &str| name.trim().trim_start_matches("the ").trim_start_matches("The ").to_lowercase();
    let meant = fold(name);
    let object = match scope {
        QueryScope::Objects(objects) => objects.iter().find(|object| fold(object.as_str()) == meant).cloned(),
        QueryScope::Global => None,
    };
    object.or_else(|| Text::new(GLOBAL).ok())
}

/// Returns the entry of an object by its name, also if it says that the object was not found.
pub fn entry_of<'a>(object: &str, regions: &'a [RegionBox]) -> Option<&'a RegionBox> {
    regions.iter().find(|region| region.name.as_str().eq_ignore_ascii_case(object))
}

/// Returns the region to measure for an object; nothing for the whole image.
pub fn region_of(object: &str, regions: &[RegionBox]) -> Option<Region> {
    entry_of(object, regions).filter(|entry| entry.is_place()).map(RegionBox::region)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fall_back_to_the_whole_picture() {
        let scope = QueryScope::from_names(["vehicle", "Background"]);
        let aligned = |name: &str| align(name, &scope).unwrap().as_str().to_owned();
        assert_eq!(aligned("the Vehicle"), "vehicle");
        assert_eq!(aligned("background "), "Background");
        assert_eq!(aligned(""), GLOBAL);
        assert_eq!(aligned("tree"), GLOBAL);
        assert_eq!(align("vehicle", &QueryScope::Global).unwrap().as_str(), GLOBAL);
    }
}
