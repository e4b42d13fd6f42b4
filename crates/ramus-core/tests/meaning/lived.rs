//! Sessions as people lived through them: what must be read as one line, and what is a second try. Each case is a
//! structure that some client version writes.

use crate::check;

#[test]
fn calls_and_results_in_any_order_make_no_fork() {
    // Streaming: calls of one message written as their results arrive.
    check(
        "a user v=2.1.50 one
         b < a call:t1 @1 #m ls
         r < b result:t1 @2 files
         c < b call:t2 @2 #m pwd
         s < c result:t2 @3 here
         d < s assistant @4 done
         e < d user @9 two",
        "parallel-tools 1
         active resumes 4: a b r c s d e",
    );
    // Next turn hangs below the first of three parallel results.
    check(
        "a user v=2.1.50 one
         b < a call:t1 @1 #m ls
         c < b call:t2 @1 #m pwd
         d < c call:t3 @1 #m id
         r3 < d result:t3 @2 me
         r2 < c result:t2 @3 here
         r1 < b result:t1 @4 files
         e < r1 assistant @5 done
         f < e user @9 two",
        "parallel-tools 2
         active resumes 4: a b c d r3 r2 r1 e f",
    );
    // Meta of an image below one of two parallel results, reply below the other.
    check(
        "a user v=2.1.50 one
         b < a call:t1:Read @1 #m x.png
         c < b call:t2 @1 #m pwd
         r1 < b result:t1 @2 img
         i < r1 meta @2 [Image: original 10x10]
         r2 < c result:t2 @3 here
         e < i assistant @5 done
         f < e user @9 two",
        "parallel-tools 1
         active resumes 4: a b c r1 r2 i e f",
    );
    // Two skills in parallel, bodies as meta, reply below first body.
    check(
        "a user v=2.1.50 one
         b < a call:t1:Skill @1 #m x
         c < b call:t2:Skill @1 #m y
         r1 < b result:t1 @2 Launching
         i < r1 meta @2 body one
         r2 < c result:t2 @2 Launching
         k < r2 meta @2 body two
         e < i assistant @5 done
         f < e user @9 two",
        "parallel-tools 1
         active resumes 4: a b c r1 r2 k i e f",
    );
    // Interrupt below call, result after, next prompt below result.
    check(
        "a user v=2.1.20 one
         b < a call:t1 @1 ls
         i < b interrupt @2
         r < b result:t1 @2 rejected
         e < r user @20 two
         f < e assistant @21 sure",
        "parallel-tools 1
         active resumes 4: a b i r e f",
    );
    // Interrupted parallel calls, one without a result.
    check(
        "a user v=2.1.20 one
         b < a call:t1 @1 #m ls
         c < b call:t2 @1 #m pwd
         r < b result:t1 @2 rejected
         i < r interrupt @3
         e < i user @20 two
         f < e assistant @21 sure",
        "parallel-tools 1
         active resumes 4: a b c r i e f",
    );
    // Queued prompt as user record, next reply below it, other result later.
    check(
        "a user v=2.0.40 one
         b < a call:t1 @1 #m ls
         c < b call:t2 @1 #m pwd
         r < b result:t1 @2 files
         s < c result:t2 @4 here
         q < s user @3 also this
         e < q assistant @5 both
         f < e user @9 two",
        "parallel-tools 1
         active resumes 5: a b c r s q e f",
    );
    // Result of a pending call after a compaction.
    check(
        "a user v=2.1.60 one
         b < a call:t1:Task @1 work
         k < b boundary @3
         s < k compacted @4 in short
         r < b result:t1 @5 found
         d < s assistant @6 on
         e < d user @9 two",
        "parallel-tools 1
         active resumes 4: a b r k s d e",
    );
    // Reply below the result of a pending call after a compaction.
    check(
        "a user v=2.1.60 one
         b < a call:t1:Task @1 work
         k < b boundary @3
         s < k compacted @4 in short
         r < b result:t1 @5 found
         d < r assistant @6 on
         e < d user @9 two",
        "parallel-tools 1
         active resumes 4: a b r k s d e",
    );
    // Late result plus queued prompt below it.
    check(
        "a user v=2.1.100 one
         b < a call:t1 @1 #m sleep
         c < b call:t2 @1 #m ls
         d < c result:t2 @2 files
         e < d assistant @9 meanwhile
         f < b result:t1 @10 slept
         q < f queued @11 hm
         g < q assistant @12 both
         h < g user @20 on",
        "parallel-tools 1
         active resumes 5: a b c d f e q g h",
    );
    // Late result below late hooks below the other call.
    check(
        "a user v=2.1.81 one
         b < a call:t1 @1 #m ls
         c < b call:t2 @1 #m pwd
         r < b result:t1 @2 files
         d < r assistant @9 done
         h < c progress @2
         s < h result:t2 @3 here
         i < s progress @3
         e < i user @20 two
         f < e assistant @21 sure",
        "parallel-tools 1
         active resumes 5: a b c r h s i d e f",
    );
}

#[test]
fn what_the_client_adds_makes_no_fork() {
    // Api errors then success, errors in chain.
    check(
        "a user v=2.1.81 one
         h < a system:api_error @5
         i < h system:api_error @9
         b < i assistant @15 hi
         c < b user @20 two",
        "active resumes 3: a h i b c",
    );
    // Api errors as siblings, answer below prompt.
    check(
        "a user v=2.1.81 one
         h < a system:api_error @5
         i < a system:api_error @9
         b < a assistant @15 hi
         c < b user @20 two",
        "decoration 1
         active resumes 3: a h i b c",
    );
    // Api errors as siblings, answer below second error, then late third.
    check(
        "a user v=2.1.81 one
         h < a system:api_error @5
         i < a system:api_error @9
         b < i assistant @15 hi
         k < a system:api_error @7
         c < k user @20 two
         d < c assistant @21 ok",
        "decoration 1
         active resumes 4: a h k i b c d",
    );
    // Session start hook root on resume, prompt below.
    check(
        "a user v=2.1.50 one
         b < a assistant @1 hi
         h progress @10
         i < h progress @11
         e < i user @12 two
         f < e assistant @13 ok",
        "active resumes 4: a b h i e f",
    );
    // Session start attachment root on resume, prompt below last.
    check(
        "a user v=2.1.120 one
         b < a assistant @1 hi
         h attachment:hook_success @10
         e < b user @12 two
         f < e assistant @13 ok",
        "active resumes 4: a b h e f",
    );
    // Compaction fails: command, error, prompt.
    check(
        "a user v=2.1.50 one
         b < a assistant @1 hi
         k < b command @2 compact
         l < k stdout @3 Error
         c < l user @5 two",
        "active resumes 3: a b k l c",
    );
    // Microcompact boundary without parent.
    check(
        "a user v=2.1.40 one
         b < a call:t1 @1 ls
         r < b result:t1 @2 x
         m system:microcompact_boundary @3
         d < m assistant @4 done",
        "active resumes 3: a b r m d",
    );
    // Microcompact boundary in chain.
    check(
        "a user v=2.1.40 one
         b < a call:t1 @1 ls
         r < b result:t1 @2 x
         m < r system:microcompact_boundary @3
         d < m assistant @4 done",
        "active resumes 3: a b r m d",
    );
    // Background: reply continues while the result of the task comes.
    check(
        "a user v=2.1.133 one
         b < a call:t1:Task @1 work
         r < b result:t1 @2 launched
         c < r assistant @3 waiting
         n < c notification @20 finished
         d < n assistant @21 it is done
         e < d user @30 thanks",
        "active resumes 5: a b r c n d e",
    );
    // Unknown node in the chain.
    check(
        "a user v=2.1.300 one
         z < a hologram @1 x
         b < z assistant @2 hi
         c < b user @3 two",
        "active resumes 3: a z b c",
    );
    // Meta continue after interrupt and synthetic.
    check(
        "a user v=2.0.76 one
         b < a call:t1 @1 ls
         m < b meta @20 Continue from where you left off.
         x < m error @21 No response requested.
         c < x user @30 go
         d < c assistant @31 ok",
        "active resumes 5: a b m x c d",
    );
    // Late end: turn_duration before next prompt, next prompt below old stop hook.
    check(
        "a user v=2.1.87 one
         b < a assistant @5 done
         h < b system:stop_hook_summary @6 hook
         t < h system:turn_duration @7
         e < h user @20 two
         f < e assistant @21 ok",
        "decoration 1
         active resumes 4: a b h t e f",
    );
    // Queued prompt below the result, reply beside it.
    check(
        "a user v=2.1.133 one
         b < a call:t1 @1 ls
         r < b result:t1 @2 x
         q < r queued @3 also
         d < r assistant @5 done
         e < d user @9 two",
        "decoration 1
         active resumes 4: a b r q d e",
    );
    // Thinking, text and call of one message with a hook between, retried as whole.
    check(
        "a user v=2.1.133 one
         b < a thinking @1 #m hm
         h < b attachment:hook_success @1
         c < h assistant @2 #m text
         d < c call:t1 @3 #m ls
         r < d result:t1 @4 x
         e < r assistant @5 ok",
        "active resumes 3: a b h c d r e",
    );
}

#[test]
fn prompts_queued_during_a_turn_and_written_after_it_make_no_fork() {
    // Late queued prompt in the middle, next prompt below it.
    check(
        "a user v=2.1.133 one
         b < a call:t1 @1 ls
         c < b result:t1 @2 files
         d < c assistant @9 done
         q < c queued @5 also
         e < q user @20 two
         f < e assistant @21 sure",
        "decoration 1
         active resumes 5: a b c q d e f",
    );
    // Late queued prompt in the middle, next prompt below the answer.
    check(
        "a user v=2.1.133 one
         b < a call:t1 @1 ls
         c < b result:t1 @2 files
         d < c assistant @9 done
         q < c queued @5 also
         e < d user @20 two
         f < e assistant @21 sure",
        "decoration 1
         active resumes 5: a b c q d e f",
    );
    // Late queued prompt, then late hooks, then prompt.
    check(
        "a user v=2.1.133 one
         b < a call:t1 @1 ls
         c < b result:t1 @2 files
         d < c assistant @9 done
         q < c queued @5 also
         h < b progress @3
         e < h user @20 two
         f < e assistant @21 sure",
        "parallel-tools 1
         decoration 1
         active resumes 5: a b c q h d e f",
    );
}

#[test]
fn compactions_that_are_repeated_make_no_fork() {
    // Two boundaries name one record (compacted twice).
    check(
        "a user v=2.0.8 one
         b < a assistant hi
         k < b boundary
         s < k compacted in short
         k2 < b boundary
         s2 < k2 compacted in short again
         c < s2 assistant on",
        "decoration 1
         active resumes 3: a b k s k2 s2 c",
    );
    // Boundary and summary written again with the same times.
    check(
        "a user v=2.0.76 one
         b < a assistant @1 #b hi
         k < b boundary @5
         s < k compacted @5 in short
         c < s user @6 two
         d < c assistant @7 #d yes
         k2 < b boundary @5
         s2 < k2 compacted @5 in short
         c2 < s2 user:list @6 two
         d2 < c2 assistant @7 #d yes
         e < d2 user @20 three
         f < e assistant @21 ok",
        "decoration 1
         active resumes 6: a b k2 k s s2 c c2 d d2 e f",
    );
    // Summary root written again.
    check(
        "a user v=1.0.60 one
         b < a assistant @1 #b hi
         s compacted @5 in short
         c < s user @6 two
         d < c assistant @7 #d yes
         s2 compacted @5 in short
         c2 < s2 user:list @6 two
         d2 < c2 assistant @7 #d yes
         e < d2 user @20 three",
        "active resumes 5: a b s c d s2 c2 d2 e",
    );
}

#[test]
fn going_back_around_a_compaction_is_a_rewind() {
    // Two boundaries name one record, the first continued.
    check(
        "a user v=2.0.8 one
         b < a assistant hi
         k < b boundary
         s < k compacted in short
         c < s user two
         d < c assistant yes
         k2 < b boundary
         s2 < k2 compacted in short again
         e < s2 user three
         f < e assistant on",
        "rewind at b: k k2*
         abandoned 4: a b k s c d
         active resumes 4: a b k2 s2 e f",
    );
    // Rewind to before a compaction.
    check(
        "a user v=2.0.8 one
         b < a assistant hi
         c < b user two
         d < c assistant yes
         k < d boundary
         s < k compacted in short
         e < s user three
         f < e assistant on
         g < b user @40 other
         h < g assistant @41 fine",
        "rewind at b: c g*
         abandoned 6: a b c d k s e f
         active resumes 4: a b g h",
    );
    // Rewind then compact.
    check(
        "a user v=2.0.8 one
         b < a assistant hi
         c < b user two
         d < c assistant yes
         e < d user three
         f < e assistant on
         k < b boundary @40
         s < k compacted @41 in short
         g < s user @42 on
         h < g assistant @43 fine",
        "rewind at b: c k*
         abandoned 6: a b c d e f
         active resumes 4: a b k s g h",
    );
}

#[test]
fn turns_written_again_with_hooks_and_commands_make_no_fork() {
    // A turn with hook records is written again, after it another turn was.
    check(
        "a user v=2.0.76 one
         b < a call:t1 @1 #b ls
         r < b result:t1 @2 files
         h < r system:stop_hook_summary @2 hook
         i < h interrupt @3
         c < i user @10 two
         d < c assistant @11 #d sure
         a2 user:list @0 one
         b2 < a2 call:t1 @1 #b ls
         r2 < b2 result:t1 @2 files
         h2 < r2 system:stop_hook_summary @2 hook
         i2 < h2 interrupt @3
         c2 < i2 user:list @10 two
         d2 < c2 assistant @11 #d sure
         e < d2 user @20 three
         f < e assistant @21 fine",
        "active resumes 6: a a2 b r b2 r2 h2 h i i2 c c2 d d2 e f",
    );
    // Commands are written again, after them another turn was.
    check(
        "a user v=2.0.76 one
         b < a assistant @1 #b hi
         v < b meta @2 Caveat: The messages below were generated by the user while running local commands.
         k < v command @3 model
         l < k stdout @3 set
         c < l user @5 two
         i < c interrupt @6
         a2 user:list @0 one
         b2 < a2 assistant @1 #b hi
         v2 < b2 meta @2 Caveat: The messages below were generated by the user while running local commands.
         k2 < v2 command @3 model
         l2 < k2 stdout @3 set
         c2 < l2 user:list @5 two
         i2 < c2 interrupt @6
         e < i user @20 three
         f < e assistant @21 fine",
        "active resumes 5: a a2 b b2 v v2 k k2 l l2 c c2 i i2 e f",
    );
    // Replay of command records.
    check(
        "a user v=2.0.76 one
         b < a assistant @1 #b hi
         v < b meta @2 Caveat: The messages below were generated by the user while running local commands.
         k < v command @2 model
         l < k stdout @2 set
         c < l user @5 two
         d < c assistant @6 #d yes
         v2 < b meta @2 Caveat: The messages below were generated by the user while running local commands.
         k2 < v2 command @2 model
         l2 < k2 stdout @2 set
         c2 < l2 user:list @5 two
         d2 < c2 assistant @6 #d yes
         e < d2 user @20 three",
        "replay 1
         active resumes 5: a b v v2 k k2 l l2 c c2 d d2 e",
    );
    // Replay of a notification and a meta.
    check(
        "a user v=2.1.7 one
         b < a assistant @1 #b hi
         n < b notification @2 done
         c < n assistant @3 #c noted
         n2 < b notification @2 done
         c2 < n2 assistant @3 #c noted
         e < c2 user @20 three",
        "replay 1
         active resumes 4: a b n n2 c c2 e",
    );
    // Every reply twice: same id, new uuid, same time.
    check(
        "a user v=2.0.1 one
         b < a assistant @1 #m hi
         b2 < a assistant @1 #m hi
         c < b2 user @3 two",
        "decoration 1
         active resumes 3: a b b2 c",
    );
}

#[test]
fn a_file_without_links_is_one_conversation() {
    // No record names a parent.
    check(
        "a user @0 one
         b assistant @1 hi
         c user @2 two
         d call:t1 @3 ls
         r result:t1 @4 files
         e assistant @5 done
         f user @6 three",
        "active resumes 6: a b c d r e f",
    );
    // Tree written in reverse.
    check(
        "f < e assistant @5 three
         e < d user @4 2
         d < c assistant @3 two
         c < b user @2 1
         b < a assistant @1 one
         a user @0 zero",
        "active resumes 6: a b c d e f",
    );
    // Reply flushed before its prompt.
    check(
        "a user v=2.1.20 one
         b < a assistant @1 hi
         d < c assistant @3 yes
         c < b user @2 two
         e < d user @9 three",
        "active resumes 5: a b c d e",
    );
    // Lost parent in the middle of a tool loop.
    check(
        "a user v=2.1.20 one
         b < a call:t1 @1 ls
         r < b result:t1 @2 files
         c < gone call:t2 @4 pwd
         s < c result:t2 @5 here
         d < s assistant @6 done
         e < d user @9 two",
        "active resumes 5: a b r c s d e",
    );
    // Result with a lost parent and a lost call.
    check(
        "a user v=2.1.20 one
         b < a assistant @1 hi
         s < gone result:t9 @5 here
         d < s assistant @6 done
         e < d user @9 two",
        "active resumes 4: a b s d e",
    );
}

#[test]
fn what_a_person_did_again_still_forks() {
    // Partial reply saved after the interrupt.
    check(
        "a user v=2.0.74 one
         i < a interrupt @4
         b < a assistant @3 par
         e < i user @20 two
         f < e assistant @21 sure",
        "interrupt at a: i* b
         abandoned 2: a b
         active resumes 3: a i e f",
    );
    // Synthetic error, prompt sent again as sibling.
    check(
        "a user v=2.1.81 one
         b < a assistant @1 hi
         p < b user @3 two
         x < p error @5 API Error
         c < b user @20 two
         d < c assistant @21 ok",
        "edit at b: p? c*
         abandoned 4: a b p x
         active resumes 4: a b c d",
    );
    // Rewind, then local command, then prompt.
    check(
        "a user v=2.1.20 one
         b < a assistant @1 hi
         c < b user @2 two
         d < c assistant @3 yes
         v < b meta @10 <local-command-caveat>x</local-command-caveat>
         k < v command @10 model
         l < k stdout @10 set
         g < l user @20 other
         h < g assistant @21 fine",
        "edit at b: c v*
         abandoned 4: a b c d
         active resumes 4: a b v k l g h",
    );
    // Two rewinds to one place.
    check(
        "a user v=2.1.20 one
         b < a assistant @1 hi
         c < b user @2 two
         d < c assistant @3 yes
         e < b user @12 2b
         f < e assistant @13 yes
         g < b user @22 2c
         h < g assistant @23 yes",
        "edit at b: c e g*
         abandoned 4: a b c d
         abandoned 4: a b e f
         active resumes 4: a b g h",
    );
    // Rewind of a rewind.
    check(
        "a user v=2.1.20 one
         b < a assistant @1 hi
         c < b user @2 two
         d < c assistant @3 yes
         e < d user @4 three
         f < e assistant @5 yes
         g < b user @12 2b
         h < g assistant @13 yes
         i < d user @22 three b
         k < i assistant @23 yes",
        "rewind at b: c* g
         edit at d: e i*
         abandoned 6: a b c d e f
         abandoned 4: a b g h
         active resumes 6: a b c d i k",
    );
    // Edit at turn_duration and at the reply above.
    check(
        "a user v=2.1.20 one
         b < a assistant @1 hi
         t < b system:turn_duration @1
         c < t user @2 two
         d < c assistant @3 yes
         e < b user @12 2b
         f < e assistant @13 yes",
        "edit at b: t e*
         abandoned 4: a b t c d
         active resumes 4: a b e f",
    );
    // Edit with prompt-submit hook in time.
    check(
        "a user v=2.1.100 one
         b < a assistant @1 hi
         c < b user @2 two
         d < c assistant @3 yes
         e < b user @10 2b
         h < e attachment:hook_additional_context @10
         f < h assistant @11 sure",
        "edit at b: c e*
         abandoned 4: a b c d
         active resumes 4: a b e h f",
    );
    // Attachments before the edited prompt.
    check(
        "a user v=2.1.100 one
         b < a assistant @1 hi
         c < b user @2 two
         d < c assistant @3 yes
         h < b attachment:skill_listing @10
         i < h attachment:edited_text_file @10
         e < i user @10 2b
         f < e assistant @11 sure",
        "edit at b: c h*
         abandoned 4: a b c d
         active resumes 4: a b h i e f",
    );
    // No times at all.
    check(
        "a user @none one
         b < a assistant @none hi
         c < b user @none two
         d < b user @none two b
         e < d assistant @none ok",
        "edit at b: c? d*
         abandoned 3: a b c
         active resumes 4: a b d e",
    );
    // Reused caveat and an edit of the prompt before the command.
    check(
        "a user v=1.0.51 one
         b < a assistant @1 hi
         v < b meta @0 Caveat: The messages below were generated by the user while running local commands.
         k < v command @3 model
         l < k stdout @3 set
         c < l user @5 two
         d < c assistant @6 yes
         m < v command @12 cost
         n < m stdout @12 x
         e < l user @13 two, edited
         f < e assistant @14 ok",
        "edit at l: c e*
         decoration 1
         abandoned 4: a b v k l c d m n
         active resumes 4: a b v k l e f",
    );
    // Unanswered prompt, then same words a moment later.
    check(
        "a user v=2.1.20 one
         b < a assistant @1 hi
         c < b user @2 two
         c2 < b user @4 two
         d < c2 assistant @5 yes",
        "edit at b: c? c2*
         abandoned 3: a b c
         active resumes 4: a b c2 d",
    );
    // Two clients at once.
    check(
        "a user v=2.1.100 one
         b < a assistant @1 hi
         c < b user @10 left
         d < b user @11 right
         e < c assistant @12 left ok
         f < d assistant @13 right ok
         g < e user @20 left 2
         h < f user @21 right 2
         i < g assistant @22 ok
         k < h assistant @23 ok",
        "edit at b: c d*
         abandoned 6: a b c e g i
         active resumes 6: a b d f h k",
    );
    // Late api error of a background request below a settled prompt, prompt below it, with edit.
    check(
        "a user v=2.1.133 one
         b < a assistant @9 done
         c < b user @10 two
         d < c assistant @19 done
         h < a system:api_error @5
         e < h user @20 three
         f < e assistant @21 ok
         g < d user @30 three b
         k < g assistant @31 ok",
        "edit at d: e g*
         decoration 1
         abandoned 6: a h b c d e f
         active resumes 6: a h b c d g k",
    );
}

#[test]
fn sidechains_inside_the_file_make_no_fork() {
    // Reused caveat, the command begins right after an interrupt of a parallel call.
    check(
        "a user v=1.0.51 one
         b < a assistant @1 hi
         v < b meta @0 Caveat: The messages below were generated by the user while running local commands.
         k < v command @3 model
         l < k stdout @3 set
         c < l user @5 two
         d < c call:t1 @6 ls
         i < d interrupt @7
         m < v bash @12 ls
         n < m bash-stdout @12 x
         e < n user @13 three
         f < e assistant @14 ok",
        "decoration 1
         active resumes 6: a b v k l c d i m n e f",
    );
    // Sidechain inline: its root hangs at the call.
    check(
        "a user v=1.0.60 one
         b < a call:t1:Task @1 work
         x < b side-user @2 work
         y < x side-assistant @3 found
         r < b result:t1 @4 found
         d < r assistant @5 ok",
        "sidechain 1
         active resumes 3: a b r d",
    );
    // Sidechain inline: main reply hangs below it twice.
    check(
        "a user v=1.0.60 one
         b < a call:t1:Task @1 work
         x side-user @2 work
         y < x side-assistant @3 found
         r < y result:t1 @4 found
         d < r assistant @5 ok
         e < y user @9 two
         f < e assistant @10 ok",
        "active resumes 5: a b r d e f",
    );
}
