//! Places in the frame: thirds, and the nine cells of a grid of three by three.

use agenticiqa_metrics::Region;

/// A place in the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    Top,
    Bottom,
    Left,
    Right,
    Center,
    UpperLeft,
    UpperCenter,
    UpperRight,
    CenterLeft,
    CenterRight,
    LowerLeft,
    LowerCenter,
    LowerRight,
}

/// The nine cells, row by row, with their names.
pub const CELLS: [(&str, Position); 9] = [
    ("upper left", Position::UpperLeft),
    ("upper center", Position::UpperCenter),
    ("upper right", Position::UpperRight),
    ("center left", Position::CenterLeft),
    ("center", Position::Center),
    ("center right", Position::CenterRight),
    ("lower left", Position::LowerLeft),
    ("lower center", Position::LowerCenter),
    ("lower right", Position::LowerRight),
];

impl Position {
    /// Returns the place in an image of this size. The thirds share no pixel and cover the image.
    pub fn within(self, width: usize, height: usize) -> Region {
        let third = |size: usize, index: usize| (size * index / 3, size * (index + 1) / 3);
        let (across, down) = match self {
            Self::Top => ((0, width), third(height, 0)),
            Self::Bottom => ((0, width), third(height, 2)),
            Self::Left => (third(width, 0), (0, height)),
            Self::Right => (third(width, 2), (0, height)),
            Self::UpperLeft => (third(width, 0), third(height, 0)),
            Self::UpperCenter => (third(width, 1), third(height, 0)),
            Self::UpperRight => (third(width, 2), third(height, 0)),
            Self::CenterLeft => (third(width, 0), third(height, 1)),
            Self::Center => (third(width, 1), third(height, 1)),
            Self::CenterRight => (third(width, 2), third(height, 1)),
            Self::LowerLeft => (third(width, 0), third(height, 2)),
            Self::LowerCenter => (third(width, 1), third(height, 2)),
            Self::LowerRight => (third(width, 2), third(height, 2)),
        };
        Region { x: across.0, y: down.0, width: across.1 - across.0, height: down.1 - down.0 }
    }
}

/// Returns the name of the cell that contains the center of a region.
pub fn cell_of(region: &Region, width: usize, height: usize) -> &'static str {
    let third = |center: usize, size: usize| (3 * center / (2 * size).max(1)).min(2);
    let column = third(2 * region.x + region.width, width);
    let row = third(2 * region.y + region.height, height);
    CELLS[3 * row + column].0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cells_cover_the_image_once_and_know_their_names() {
        let (width, height) = (100, 50);
        let regions = CELLS.map(|(name, position)| (name, position.within(width, height)));
        let area: usize = regions.iter().map(|(_, region)| region.width * region.height).sum();
        assert_eq!(area, width * height);
        for (name, region) in regions {
            assert_eq!(cell_of(&region, width, height), name);
        }
        assert_eq!(Position::Top.within(100, 50), Region { x: 0, y: 0, width: 100, height: 16 });
        assert_eq!(Position::Right.within(100, 50), Region { x: 66, y: 0, width: 34, height: 50 });
    }
}
