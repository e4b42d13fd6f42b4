//! Variants of the shapes in [`shapes`](super::shapes): several of them in one session, and what a person did
//! next to them.

use crate::check;

#[test]
fn an_edited_prompt_below_late_records_forks() {
    for version in ["2.1.79", "2.1.81", "2.1.133", "2.1.144"] {
        check(
            &format!(
                "a user v={version} one
                 b < a call:t1 @1 ls
                 c < b result:t1 @2 files
                 d < c assistant @9 done
                 h < b progress @2
                 e < h user @20 two
                 f < e assistant @21 sure
                 g < h user @40 two, edited
                 k < g assistant @41 fine"
            ),
            "edit at h: e g*
             parallel-tools 1
             decoration 1
             abandoned 5: a b c h d e f
             active resumes 5: a b c h d g k",
        );
    }
    // After two more turns, with API errors in place of progress.
    check(
        "a user v=2.1.87 one
         b < a assistant @30 done
         h < a system:api_error @5 error
         i < h system:api_error @10 error
         e < i user @40 two
         f < e assistant @41 sure
         g < f user @50 three
         k < g assistant @51 ok
         l < i user @60 two, edited
         m < l assistant @61 fine",
        "rewind at i: e l*
         decoration 2
         abandoned 6: a h i b e f g k
         active resumes 4: a h i b l m",
    );
    // The first prompt came after a command.
    check(
        "a user v=2.1.87 one
         b < a call:t1 @1 ls
         c < b result:t1 @2 files
         d < c assistant @9 done
         h < b attachment:hook_success @2
         v < h meta @19 caveat
         k < v command @19 model
         l < k stdout @19 set
         e < l user @20 two
         f < e assistant @21 sure
         g < h user @40 instead
         m < g assistant @41 fine",
        "edit at h: v g*
         parallel-tools 1
         decoration 1
         abandoned 5: a b c h d v k l e f
         active resumes 5: a b c h d g m",
    );
    // A command was run before the edited prompt was sent.
    check(
        "a user v=2.1.81 one
         b < a call:t1 @1 ls
         c < b result:t1 @2 files
         d < c assistant @9 done
         h < b progress @2
         e < h user @20 two
         f < e assistant @21 sure
         v < h meta @39 caveat
         k < v command @39 model
         l < k stdout @39 set
         g < l user @40 two, edited
         m < g assistant @41 fine",
        "edit at h: e v*
         parallel-tools 1
         decoration 1
         abandoned 5: a b c h d e f
         active resumes 5: a b c h d v k l g m",
    );
}

#[test]
fn late_records_of_one_time_make_no_fork() {
    // Copies of sessions round times or give many records the same.
    check(
        "a user v=2.1.81 @1 one
         b < a call:t1 @2 ls
         c < b result:t1 @2 files
         d < c assistant @2 done
         h < b progress @2
         e < h user @20 two
         f < e assistant @21 sure",
        "parallel-tools 1
         active resumes 5: a b c h d e f",
    );
}

#[test]
fn what_follows_a_late_result_continues_the_end() {
    // Of another message, with a prompt below the result.
    check(
        "a user one
         b < a call:t1 @1 sleep
         c < b call:t2 @1 #m ls
         d < c result:t2 @2 files
         e < d assistant @9 meanwhile
         f < b result:t1 @10 slept
         g < f user @20 two
         k < g assistant @21 sure",
        "parallel-tools 1
         active resumes 6: a b f c d e g k",
    );
    // Of the same message, with a reply below the result.
    check(
        "a user one
         b < a call:t1 @1 #m sleep
         c < b call:t2 @1 #m ls
         d < c result:t2 @2 files
         e < d assistant @9 meanwhile
         f < b result:t1 @10 slept
         g < f assistant @21 both",
        "parallel-tools 1
         active resumes 4: a b c d f e g",
    );
    // Below late progress.
    check(
        "a user v=2.1.81 one
         b < a call:t1 @1 #m sleep
         c < b call:t2 @1 #m ls
         d < c result:t2 @2 files
         e < d assistant @9 meanwhile
         h < b progress @2
         f < h result:t1 @3 slept
         g < f user @20 two
         k < g assistant @21 sure
         l < f user @30 two, edited
         n < l assistant @31 fine",
        "edit at f: g l*
         parallel-tools 1
         decoration 1
         abandoned 5: a b c d h f e g k
         active resumes 5: a b c d h f e l n",
    );
}

#[test]
fn a_retry_below_parallel_results_still_forks() {
    check(
        "a user one
         b < a call:t1 @1 #m sleep
         c < b call:t2 @1 #m ls
         d < c result:t2 @2 files
         f < b result:t1 @3 slept
         e < f assistant @9 broken
         g < f assistant @21 both",
        "retry at f: e g*
         parallel-tools 1
         abandoned 3: a b c d f e
         active resumes 3: a b c d f g",
    );
}

#[test]
fn other_records_below_a_reused_caveat_make_no_fork() {
    // Output without its command.
    check(
        "a user v=1.0.34 one
         b < a assistant @1 hi
         v < b meta @0 Caveat: The messages below were generated by the user while running local commands.
         k < v command @3 model
         c < k user @5 two
         d < c assistant @6 sure
         m < v stdout @7 set
         e < m user @9 three
         f < e assistant @10 fine",
        "decoration 1
         active resumes 6: a b v k c d m e f",
    );
    // A prompt, where a command has shown that the uuid was reused.
    check(
        "a user v=1.0.51 one
         b < a assistant @1 hi
         v < b meta @0 Caveat: The messages below were generated by the user while running local commands.
         k < v command @3 model
         c < k user @5 two
         d < c assistant @6 sure
         m < v command @7 cost
         n < m stdout @8 1 $
         e < v user @9 three
         f < e assistant @10 fine",
        "decoration 1
         active resumes 6: a b v k c d m n e f",
    );
}

#[test]
fn a_prompt_below_a_caveat_that_was_used_once_still_forks() {
    check(
        "a user v=1.0.34 one
         b < a assistant @1 hi
         v < b meta @2 Caveat: The messages below were generated by the user while running local commands.
         k < v command @3 model
         c < k user @5 two
         d < c assistant @6 sure
         e < v user @9 instead
         f < e assistant @10 fine",
        "edit at v: k e*
         abandoned 4: a b v k c d
         active resumes 4: a b v e f",
    );
}

#[test]
fn an_edited_prompt_between_commands_below_a_reused_caveat_still_forks() {
    check(
        "a user v=1.0.34 one
         b < a assistant @1 hi
         v < b meta @0 Caveat: The messages below were generated by the user while running local commands.
         k < v command @3 model
         c < k user @5 two
         d < c assistant @6 sure
         m < v command @7 cost
         n < m stdout @8 1 $
         e < n user @9 three
         f < e assistant @10 fine
         g < n user @12 three, edited
         l < g assistant @13 better",
        "edit at n: e g*
         decoration 1
         abandoned 6: a b v k c d m n e f
         active resumes 6: a b v k c d m n g l",
    );
}

#[test]
fn replays_at_other_places_make_no_fork() {
    // A part of the conversation comes again from a root.
    check(
        "a user v=2.0.76 one
         b < a assistant @1 #k hi
         c < b user @2 two
         d < c assistant @3 #m yes
         c2 user:list @2 two
         d2 < c2 assistant @3 #m yes
         g < d2 user @20 three
         h < g assistant @21 ok",
        "active resumes 6: a b c c2 d d2 g h",
    );
    // A turn comes again further up.
    check(
        "a user v=2.1.7 one
         b < a assistant @1 #k hi
         c < b user @2 two
         d < c assistant @3 #m yes
         e < d user @4 three
         f < e assistant @5 #n fine
         e2 < b user:list @4 three
         f2 < e2 assistant @5 #n fine
         g < f2 user @20 four
         h < g assistant @21 ok",
        "active resumes 8: a b c d e e2 f f2 g h",
    );
    // Two records become one.
    check(
        "a user v=2.0.76 one
         b < a assistant @1 hi
         c < b user:list @2 look
         p < c user:only-picture @2 -
         d < p assistant @3 #m a cat
         e < b user:picture @2 look
         f < e assistant @3 #m a cat
         g < d user @9 three",
        "active resumes 6: a b c p e d f g",
    );
    // The words changed.
    check(
        "a user v=2.0.76 one
         b < a assistant @1 hi
         c < b user @2 <ide_opened_file>x</ide_opened_file> two
         d < c assistant @3 #m yes
         e < b user:list @2 two
         f < e assistant @3 #m yes
         g < f user @9 three",
        "replay 1
         active resumes 5: a b c e d f g",
    );
}

#[test]
fn replays_with_more_records_before_the_reply_make_no_fork() {
    // Hooks and listings stand between the copied prompt and its reply.
    for version in ["2.0.76", "2.1.2", "2.1.7"] {
        check(
            &format!(
                "a user v={version} one
                 b < a assistant @1 hi
                 c < b user @2 <ide_opened_file>x</ide_opened_file> two
                 d < c assistant @3 #m yes
                 e < b user:list @2 two
                 f < e attachment:hook_success @2
                 g < f attachment:skill_listing @2
                 h < g attachment:nested_memory @2
                 i < h attachment:nested_memory @2
                 k < i assistant @3 #m yes
                 l < k user @9 three"
            ),
            "replay 1
             active resumes 5: a b c e f g h i d k l",
        );
    }
}

#[test]
fn an_interrupted_prompt_that_comes_again_in_another_shape_makes_no_fork() {
    // Two records become one.
    check(
        "a user v=2.0.76 one
         b < a assistant @1 hi
         c < b user:list @2 look
         p < c user:only-picture @2 -
         i < p interrupt @3
         e < b user:picture @2 look
         k < e interrupt @3
         g < k user @9 three
         h < g assistant @10 ok",
        "active resumes 6: a b c p e i k g h",
    );
    // One becomes two.
    check(
        "a user v=2.1.7 one
         b < a assistant @1 hi
         c < b user:picture @2 look
         i < c interrupt @3
         e < b user:list @2 look
         p < e user:only-picture @2 -
         k < p interrupt @3
         g < k user @9 three
         h < g assistant @10 ok",
        "replay 1
         active resumes 5: a b c e p i k g h",
    );
}

#[test]
fn what_follows_a_result_that_comes_again_makes_no_fork() {
    // A rejected call, and a prompt that was interrupted; the conversation goes on below the originals or the copies.
    for (version, above) in [("2.0.76", "k"), ("2.1.2", "k2"), ("2.1.7", "k")] {
        check(
            &format!(
                "a user v={version} one
                 b < a assistant @1 hi
                 c < b user @2 two
                 d < c call:t1 @3 #m ls
                 e < d result:t1 @4 rejected
                 i < e interrupt @4
                 f < i user @5 three
                 k < f interrupt @6
                 c2 < b user:list @2 two
                 d2 < c2 call:t1 @3 #m ls
                 e2 < d2 result:t1 @4 rejected
                 i2 < e2 interrupt @4
                 f2 < i2 user:list @5 three
                 k2 < f2 interrupt @6
                 g < {above} user @20 four
                 h < g assistant @21 sure"
            ),
            "replay 1
             active resumes 7: a b c c2 d e d2 e2 i i2 f f2 k k2 g h",
        );
    }
    // A prompt was queued while the call ran.
    check(
        "a user v=2.0.76 one
         b < a assistant @1 hi
         c < b user @2 two
         d < c call:t1 @3 #m ls
         e < d result:t1 @4 files
         q < e queued @4 this too
         f < q assistant @5 #n done
         c2 < b user:list @2 two
         d2 < c2 call:t1 @3 #m ls
         e2 < d2 result:t1 @4 files
         q2 < e2 queued @4 this too
         f2 < q2 assistant @5 #n done
         g < f user @20 three
         h < g assistant @21 sure",
        "replay 1
         active resumes 7: a b c c2 d e d2 e2 q2 q f f2 g h",
    );
}

#[test]
fn the_same_words_with_another_picture_still_fork() {
    check(
        "a user v=2.0.76 one
         b < a assistant @1 hi
         c < b user:list @2 look
         d < c assistant @3 where
         e < b user:picture @2 look
         f < e assistant @10 a cat",
        "edit at b: c e*
         abandoned 4: a b c d
         active resumes 4: a b e f",
    );
}

#[test]
fn an_edited_prompt_after_a_replay_still_forks() {
    check(
        "a user v=2.0.76 one
         b < a assistant @1 #k hi
         c < b user @2 two
         d < c assistant @3 #m yes
         e < d user @4 three
         f < e assistant @5 #n fine
         c2 < b user:list @2 two
         d2 < c2 assistant @3 #m yes
         g < d2 user @20 three, edited
         h < g assistant @21 ok",
        "edit at d2: e g*
         replay 1
         abandoned 6: a b c c2 d d2 e f
         active resumes 6: a b c c2 d d2 g h",
    );
}

#[test]
fn two_prompts_that_name_one_lost_parent_are_an_edit() {
    check(
        "a user v=2.1.44 one
         b < a assistant @1 hi
         c < gone user @2 two
         d < c assistant @3 sure
         e < gone user @4 two, edited
         f < e assistant @5 ok",
        "edit at b: c e*
         abandoned 4: a b c d
         active resumes 4: a b e f",
    );
}

#[test]
fn an_unanswered_and_an_edited_prompt_below_one_lost_parent_are_an_edit() {
    for version in ["2.1.20", "2.1.44", "2.1.49"] {
        check(
            &format!(
                "a user v={version} one
                 b < a assistant @1 hi
                 c < gone user @2 two
                 e < gone user @4 two, edited
                 f < e assistant @5 ok"
            ),
            "edit at b: c? e*
             abandoned 3: a b c
             active resumes 4: a b e f",
        );
    }
}

#[test]
fn a_prompt_among_records_with_lost_parents_is_part_of_the_conversation() {
    // The reply was lost as well, and with it what the next record follows.
    check(
        "a user v=2.1.44 one
         b < a assistant @1 hi
         c < gone user @2 two
         d < gone2 user @3 three
         e < d assistant @4 ok",
        "active resumes 5: a b c d e",
    );
    check(
        "a user v=2.1.30 one
         b < a call:t1 @1 ls
         r < b result:t1 @2 files
         c < gone user @3 two
         s < gone2 result:t2 @5 files
         e < s assistant @6 ok",
        "active resumes 4: a b r c s e",
    );
}

#[test]
fn what_is_below_a_sub_agents_record_continues_the_conversation() {
    // Clients up to 2.0.22 resumed inside of a sidechain.
    for version in ["1.0.34", "1.0.119", "2.0.14"] {
        check(
            &format!(
                "a user v={version} one
                 b < a call:t1:Task @1 look
                 x side-user @2 look
                 y < x side-assistant @3 found
                 c < y user @5 two
                 d < c assistant @6 sure"
            ),
            "active resumes 4: a b c d",
        );
    }
    // The result of the call, and a compaction.
    check(
        "a user v=1.0.119 one
         b < a call:t1:Task @1 look
         x side-user @2 look
         y < x side-assistant @3 found
         r < y result:t1 @4 found
         d < r assistant @5 on
         z < y side-assistant @6 more
         k < z boundary @7
         s < k compacted @8 in short
         e < s assistant @9 on",
        "active resumes 4: a b r d k s e",
    );
}
