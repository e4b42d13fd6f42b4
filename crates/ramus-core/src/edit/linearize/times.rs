//! Assigns times that rise along the chain and are not in the future.

use super::RowPlace;
use crate::time::Time;

/// Returns the time of each row; `None`: it keeps its own.
///
/// Each record of the chain is later than the one before: the oldest clients continue at the newest. A
/// record beside the chain has the time of the record it is attached to, because the first of equals
/// counts.
pub(super) fn rising_times(
    rows: impl Iterator<Item = (RowPlace, Option<Time>)>,
    now: Time,
) -> Vec<Option<Time>> {
    let rows: Vec<(RowPlace, Option<Time>)> = rows.collect();
    let on_line = |(place, _): &&(RowPlace, Option<Time>)| *place == RowPlace::Chain;
    let mut millis: Vec<i64> = Vec::new();
    for (_, time) in rows.iter().filter(on_line) {
        let wanted = time.map(Time::as_millis);
        let after = millis.last().map(|last| last + 1);
        millis.push(match (wanted, after) {
            (Some(wanted), Some(after)) => wanted.max(after),
            (Some(time), None) | (None, Some(time)) => time,
            (None, None) => first_known_time(&rows).unwrap_or(now).as_millis() - 1,
        });
    }
    let mut latest = now.as_millis();
    for time in millis.iter_mut().rev() {
        *time = latest.min(*time);
        latest = *time - 1;
    }
    let first = millis.first().map(|first| first - 1);
    let mut line = millis.into_iter();
    let mut last = None;
    let place = |(place, time): &(RowPlace, Option<Time>)| match place {
        RowPlace::Chain => {
            let set = line.next();
            last = set;
            // A time that can stay keeps its precision.
            match time {
                Some(time) if Some(time.as_millis()) == set => Some(*time),
                _ => set.map(Time::from_millis),
            }
        }
        RowPlace::Beside => last.or(first).map(Time::from_millis),
        RowPlace::Sidechain if time.is_none() => Some(last.map_or(now, Time::from_millis)),
        RowPlace::Sidechain | RowPlace::Outside => None,
    };
    rows.iter().map(place).collect()
}

fn first_known_time(rows: &[(RowPlace, Option<Time>)]) -> Option<Time> {
    rows.iter().filter(|(place, _)| *place == RowPlace::Chain).find_map(|(_, time)| *time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rows: &[(RowPlace, Option<i64>)], now: i64, expected: &[Option<i64>]) {
        let rows = rows.iter().map(|(place, time)| (*place, time.map(Time::from_millis)));
        let times: Vec<Option<i64>> = rising_times(rows, Time::from_millis(now))
            .into_iter()
            .map(|time| time.map(Time::as_millis))
            .collect();
        assert_eq!(times, expected);
    }

    #[test]
    fn times_rise_and_end_before_now() {
        use RowPlace::{Beside, Chain, Outside, Sidechain};
        check(&[(Chain, Some(1)), (Chain, Some(5))], 9, &[Some(1), Some(5)]);
        check(
            &[(Chain, Some(5)), (Chain, Some(1)), (Chain, None)],
            9,
            &[Some(5), Some(6), Some(7)],
        );
        check(
            &[(Chain, Some(8)), (Chain, Some(8)), (Chain, Some(8))],
            9,
            &[Some(7), Some(8), Some(9)],
        );
        check(&[(Chain, None), (Chain, Some(3))], 9, &[Some(2), Some(3)]);
        check(&[(Chain, None)], 9, &[Some(8)]);
        check(
            &[
                (Chain, Some(3)),
                (Beside, Some(7)),
                (Outside, None),
                (Sidechain, None),
                (Chain, Some(4)),
            ],
            9,
            &[Some(3), Some(3), None, Some(3), Some(4)],
        );
        check(&[(Beside, None), (Chain, Some(3))], 9, &[Some(2), Some(3)]);
    }
}
