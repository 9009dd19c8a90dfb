//! The specification of a gate: a state, how many transitions there were, and whether it is closed.

use jeton_core::gate::{TransitionError, states};

use crate::linearizability::Spec;

states! {
    /// The states of the models and tests: a circle of three, and an end.
    pub enum Mode: open Running {
        /// The first one.
        Idle -> [Running], abort Ended;
        /// The open one.
        Running -> [Ending, Idle], abort Ending;
        /// Ends.
        Ending -> [Idle, Ended], abort Idle;
        /// Has ended.
        Ended -> [];
    }
}

/// A call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// From one state to another.
    Go(Mode, Mode),
    /// The state and its epoch.
    Snapshot,
    /// Whether it is open.
    Check,
    /// Transitions since an epoch.
    ChangedSince(u32),
    /// Close it.
    Close,
}

/// What a call returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Of `Go`: the new epoch.
    Gone(Result<u32, TransitionError<Mode>>),
    /// Of `Snapshot`.
    Moment(Mode, u32),
    /// Of `ChangedSince`.
    Changes(u32),
    /// Of `Check` and `Close`.
    Is(bool),
}

/// A gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Life {
    /// The state.
    pub state: Mode,
    /// How many transitions there were.
    pub epoch: u32,
    /// Whether it is closed.
    pub closed: bool,
}

impl Default for Life {
    fn default() -> Self {
        Self { state: Mode::Idle, epoch: 0, closed: false }
    }
}

impl Life {
    /// Makes a call.
    pub fn call(&mut self, call: Call) -> Answer {
        match call {
            Call::Go(from, to) => Answer::Gone(self.go(from, to)),
            Call::Snapshot => Answer::Moment(self.state, self.epoch),
            Call::Check => Answer::Is(self.state == Mode::Running && !self.closed),
            Call::ChangedSince(epoch) => Answer::Changes(self.epoch - epoch),
            Call::Close => {
                let is_first = !self.closed;
                self.closed = true;
                Answer::Is(is_first)
            }
        }
    }

    fn go(&mut self, from: Mode, to: Mode) -> Result<u32, TransitionError<Mode>> {
        let allowed = match from {
            Mode::Idle => [Mode::Running, Mode::Ended].contains(&to),
            Mode::Running => [Mode::Ending, Mode::Idle].contains(&to),
            Mode::Ending => [Mode::Idle, Mode::Ended].contains(&to),
            Mode::Ended => false,
        };
        if !allowed {
            return Err(TransitionError::NoEdge);
        }
        if self.closed {
            return Err(TransitionError::Closed);
        }
        if self.state != from {
            return Err(TransitionError::Other(self.state));
        }
        self.state = to;
        self.epoch += 1;
        Ok(self.epoch)
    }
}

impl Spec for Life {
    type Call = Call;
    type Answer = Answer;

    fn accepts(&mut self, call: &Call, answer: &Answer) -> bool {
        self.call(*call) == *answer
    }
}

/// Every pair of states.
pub fn pairs() -> impl Iterator<Item = (Mode, Mode)> {
    let modes = [Mode::Idle, Mode::Running, Mode::Ending, Mode::Ended];
    modes.into_iter().flat_map(move |from| modes.map(|to| (from, to)))
}

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    use jeton_core::gate::States;

    use super::*;

    #[test]
    fn the_specification_has_the_edges_of_the_table() {
        for (from, to) in pairs() {
            let mut life = Life { state: from, ..Life::default() };
            assert_eq!(life.go(from, to).is_ok(), Mode::TABLE.has_edge(from.number(), to.number()), "{from:?} {to:?}");
        }
    }

    #[test]
    fn a_closed_life_does_not_go_on() {
        let mut life = Life::default();
        assert_eq!(life.call(Call::Go(Mode::Idle, Mode::Running)), Answer::Gone(Ok(1)));
        assert_eq!((life.call(Call::Check), life.call(Call::Close)), (Answer::Is(true), Answer::Is(true)));
        assert_eq!((life.call(Call::Check), life.call(Call::Close)), (Answer::Is(false), Answer::Is(false)));
        assert_eq!(life.call(Call::Go(Mode::Running, Mode::Idle)), Answer::Gone(Err(TransitionError::Closed)));
        assert_eq!(life.call(Call::Snapshot), Answer::Moment(Mode::Running, 1));
    }
}
