//! The states of a gate and the edges between them: declared once, and checked when they are compiled.

use core::{
    fmt,
    marker::PhantomData,
    ops::{BitOr, BitOrAssign},
};

/// How many states a gate has at most.
pub const MOST_STATES: usize = 16;

/// The states of a gate, as [`states!`](crate::gate::states) declares them.
pub trait States: Copy + Eq + fmt::Debug + 'static {
    /// The edges.
    const TABLE: Table;
    /// The states by their number; beyond the table's length the first one again.
    const ALL: [Self; MOST_STATES];
    /// Its place in [`ALL`](Self::ALL), which is below the table's length.
    fn number(self) -> u8;
}

/// The edges between up to 16 states, numbered from 0; the first one is the one that a gate begins in.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    len: u8,
    open: u8,
    /// For each state the states that an edge leads to, a bit each.
    edges: [u16; MOST_STATES],
    /// For each state the end of its abort edge; itself, if it is terminal.
    abort: [u8; MOST_STATES],
}

impl Table {
    /// The table of states that are open in `open`, and of which each has edges to the ones of its set, and an abort edge, if it has any.
    ///
    /// # Panics
    /// When it is compiled, as `states!` does: if a state cannot be reached; if one that has an edge has no abort edge, or the other way round;
    /// if an edge leads to no state, or an abort edge back to its own; if there are none, or more than 16.
    #[allow(clippy::indexing_slicing, reason = "no state has a number beyond the table, and this is done when it is compiled")]
    pub const fn new(open: u8, edges: &[(u16, Option<u8>)]) -> Self {
        assert!(!edges.is_empty() && edges.len() <= MOST_STATES, "a gate has 1 to 16 states");
        assert!((open as usize) < edges.len(), "the open state is one of them");
        let len = edges.len();
        let mut table = Self { len: len as u8, open, edges: [0; MOST_STATES], abort: [0; MOST_STATES] };
        let mut state = 0;
        while state < len {
            let (to, abort) = edges[state];
            table.edges[state] = to;
            table.abort[state] = state as u8;
            if let Some(abort) = abort {
                assert!((abort as usize) < len && abort as usize != state, "an abort edge leads to another state");
                table.edges[state] |= 1 << abort;
                table.abort[state] = abort;
            }
            assert!(table.edges[state] as u32 >> len == 0, "an edge leads to a state");
            assert!(to == 0 || abort.is_some(), "a state with an exit needs an abort edge");
            assert!(to != 0 || abort.is_none(), "a state without an exit has no abort edge");
            state += 1;
        }
        assert!(table.reached_from_first() == u16::MAX >> (MOST_STATES - len), "every state is reached from the first one");
        table
    }

    #[allow(clippy::indexing_slicing, reason = "no state has a number beyond the table, and this is done when it is compiled")]
    const fn reached_from_first(&self) -> u16 {
        let mut reached = 1;
        // A way without circles is no longer than there are states.
        let mut steps = 0;
        while steps < self.len {
            let mut state = 0;
            while state < self.len as usize {
                if reached & 1 << state != 0 {
                    reached |= self.edges[state];
                }
                state += 1;
            }
            steps += 1;
        }
        reached
    }

    /// The number of the open state.
    #[inline(always)]
    pub const fn open(&self) -> u8 {
        self.open
    }

    /// Whether there is an edge; not from or to a number that is no state's.
    #[inline(always)]
    #[allow(clippy::indexing_slicing, reason = "the remainder is within the array")]
    pub const fn has_edge(&self, from: u8, to: u8) -> bool {
        // A number beyond the table has no bits in a word: what it would change there is not a state.
        (from as usize) < MOST_STATES
            && (to as usize) < MOST_STATES
            && self.edges[from as usize % MOST_STATES] & 1 << (to as usize % MOST_STATES) != 0
    }

    /// Where the abort edge of a state leads to; to itself, if it is terminal.
    #[inline(always)]
    #[allow(clippy::indexing_slicing, reason = "the remainder is within the array")]
    pub const fn abort(&self, state: u8) -> u8 {
        self.abort[state as usize % MOST_STATES]
    }
}

/// A set of states: of one, of an array of them, or put together by `|`.
///
/// # Examples
/// ```
/// # jeton_core::gate::states! {
/// #     enum Door: open Open { Shut -> [Open], abort Locked; Open -> [Shut], abort Shut; Locked -> []; }
/// # }
/// use jeton_core::gate::StateSet;
///
/// let closed = StateSet::from(Door::Shut) | Door::Locked;
/// assert_eq!(closed, [Door::Shut, Door::Locked].into());
/// assert_eq!(closed | Door::Open, StateSet::ALL);
/// assert!(closed.contains(Door::Locked) && !closed.contains(Door::Open));
/// ```
pub struct StateSet<S>(u16, PhantomData<fn() -> S>);

impl<S: States> StateSet<S> {
    /// Every state.
    pub const ALL: Self = Self(u16::MAX >> (MOST_STATES - S::TABLE.len as usize), PhantomData);

    /// No state.
    pub const fn none() -> Self {
        Self(0, PhantomData)
    }

    /// These, and one more.
    #[must_use]
    pub fn with(self, state: S) -> Self {
        Self(self.0 | 1 << (state.number() % 16), PhantomData)
    }

    /// Whether it is among them.
    pub fn contains(self, state: S) -> bool {
        self.0 & 1 << (state.number() % 16) != 0
    }

    /// A bit for each state, by its number.
    pub const fn bits(self) -> u16 {
        self.0
    }
}

impl<S: States> From<S> for StateSet<S> {
    fn from(state: S) -> Self {
        Self::none().with(state)
    }
}

impl<S: States, const K: usize> From<[S; K]> for StateSet<S> {
    fn from(states: [S; K]) -> Self {
        states.into_iter().fold(Self::none(), Self::with)
    }
}

/// These, and those of the other one, which may be a state or an array of them.
impl<S: States, T: Into<Self>> BitOr<T> for StateSet<S> {
    type Output = Self;

    fn bitor(self, other: T) -> Self {
        Self(self.0 | other.into().0, PhantomData)
    }
}

impl<S: States, T: Into<Self>> BitOrAssign<T> for StateSet<S> {
    fn bitor_assign(&mut self, other: T) {
        *self = *self | other;
    }
}

impl<S> Clone for StateSet<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for StateSet<S> {}

impl<S> PartialEq for StateSet<S> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<S> Eq for StateSet<S> {}

impl<S> fmt::Debug for StateSet<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StateSet({:#b})", self.0)
    }
}

/// Why there was no transition. Nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransitionError<S> {
    /// The table has no such edge.
    NoEdge,
    /// The gate is in this state.
    Other(S),
    /// The gate is closed.
    Closed,
}

impl<S: fmt::Debug> fmt::Display for TransitionError<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEdge => f.write_str("there is no such edge"),
            Self::Other(state) => write!(f, "the gate is in state {state:?}"),
            Self::Closed => f.write_str("the gate is closed"),
        }
    }
}

impl<S: fmt::Debug> core::error::Error for TransitionError<S> {}

/// Declares the states of a gate: an enumeration that is [`States`].
///
/// The first state is the one that a gate begins in. Behind the name stands the open state, in which `check` succeeds. Each state has the states
/// that one gets to from it, and the end of its abort edge, which a transition given up there takes; a terminal state has neither.
///
/// What does not compile: a state that is not reached from the first one; an exit without an abort edge; an abort edge without an exit;
/// more than 16 states; and later a typed transition along an edge that is not there.
///
/// ```
/// jeton_core::gate::states! {
///     /// The life of a queue.
///     pub enum Queue: open Running {
///         /// Loaded, and never writable yet.
///         Init -> [Startup], abort Waiting;
///         /// Cleans up after the last owner.
///         Startup -> [Running], abort Waiting;
///         Running -> [Ending], abort Ending;
///         Ending -> [Waiting], abort Waiting;
///         Waiting -> [Startup], abort Startup;
///     }
/// }
/// ```
///
/// A state that is not reached from the first one:
///
/// ```compile_fail,E0080
/// jeton_core::gate::states! {
///     enum Island: open Here { Here -> [There], abort There; There -> []; Nowhere -> []; }
/// }
/// ```
///
/// An exit without an abort edge:
///
/// ```compile_fail,E0080
/// jeton_core::gate::states! {
///     enum Wedge: open Here { Here -> [There], abort There; There -> [Here]; }
/// }
/// ```
///
/// A state without an exit that is not terminal, since one can give it up:
///
/// ```compile_fail,E0080
/// jeton_core::gate::states! {
///     enum Stuck: open Here { Here -> [There], abort There; There -> [], abort Here; }
/// }
/// ```
///
/// An abort edge that leads nowhere:
///
/// ```compile_fail,E0080
/// jeton_core::gate::states! {
///     enum Still: open Here { Here -> [There], abort Here; There -> []; }
/// }
/// ```
///
/// Seventeen states; the same without the last one compiles:
///
/// ```compile_fail,E0080
/// jeton_core::gate::states! {
///     enum Many: open A {
///         A -> [B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q], abort B;
///         B -> []; C -> []; D -> []; E -> []; F -> []; G -> []; H -> []; I -> []; J -> []; K -> []; L -> []; M -> []; N -> []; O -> []; P -> [];
///         Q -> [];
///     }
/// }
/// ```
///
/// ```
/// jeton_core::gate::states! {
///     enum Many: open A {
///         A -> [B, C, D, E, F, G, H, I, J, K, L, M, N, O, P], abort B;
///         B -> []; C -> []; D -> []; E -> []; F -> []; G -> []; H -> []; I -> []; J -> []; K -> []; L -> []; M -> []; N -> []; O -> []; P -> [];
///     }
/// }
/// ```
///
/// States and names that are not there:
///
/// ```compile_fail,E0599
/// jeton_core::gate::states! {
///     enum Unknown: open Here { Here -> [Elsewhere], abort Here; }
/// }
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __states {
    (
        $(#[$meta:meta])*
        $vis:vis enum $Name:ident: open $Open:ident {
            $($(#[$doc:meta])* $State:ident -> [$($to:ident),* $(,)?] $(, abort $abort:ident)?;)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        $vis enum $Name {
            $($(#[$doc])* $State,)+
        }

        impl $crate::gate::States for $Name {
            const TABLE: $crate::gate::Table = {
                #[allow(unused_mut, unused_assignments)]
                const EDGES: &[(u16, ::core::option::Option<u8>)] = &[$((
                    0 $(| 1_u16.wrapping_shl($Name::$to as u32))*,
                    {
                        let mut abort = ::core::option::Option::None;
                        $(abort = ::core::option::Option::Some($Name::$abort as u8);)?
                        abort
                    },
                ),)+];
                $crate::gate::Table::new($Name::$Open as u8, EDGES)
            };
            const ALL: [Self; $crate::gate::MOST_STATES] = {
                const LISTED: &[$Name] = &[$($Name::$State,)+];
                let mut all = [LISTED[0]; $crate::gate::MOST_STATES];
                let mut at = 0;
                while at < LISTED.len() && at < all.len() {
                    all[at] = LISTED[at];
                    at += 1;
                }
                all
            };
            #[inline(always)]
            fn number(self) -> u8 {
                self as u8
            }
        }

        // The table is checked also if nobody uses it.
        const _: $crate::gate::Table = <$Name as $crate::gate::States>::TABLE;
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::gate::states! {
        enum Door: open Open {
            Shut -> [Open], abort Locked;
            Open -> [Shut], abort Shut;
            Locked -> [];
        }
    }

    #[test]
    fn a_table_has_its_edges_and_the_abort_edges() {
        let table = Door::TABLE;
        let edges: [[bool; 3]; 3] = [0, 1, 2].map(|from| [0, 1, 2].map(|to| table.has_edge(from, to)));
        assert_eq!(edges, [[false, true, true], [true, false, false], [false; 3]]);
        assert_eq!([0, 1, 2].map(|state| table.abort(state)), [2, 0, 2]);
        assert_eq!((table.open(), Door::Locked.number(), Door::ALL[2], Door::ALL[15]), (1, 2, Door::Locked, Door::Shut));
    }

    #[test]
    fn a_state_is_reached_on_the_longest_way() {
        // From the first state to the last one, and then down one by one: each round of the search finds one more.
        let mut down = [(0, None); MOST_STATES];
        for (state, edges) in down.iter_mut().enumerate() {
            let next = (state + MOST_STATES - 1) % MOST_STATES;
            *edges = (1 << next, Some(next as u8));
        }
        let table = Table::new(15, &down);
        assert!(table.has_edge(0, 15) && table.has_edge(1, 0) && !table.has_edge(1, 2) && table.abort(15) == 14);
    }

    #[test]
    fn sets_hold_what_is_put_into_them() {
        let set = StateSet::from([Door::Shut, Door::Locked]);
        assert_eq!((set.bits(), set.contains(Door::Locked), set.contains(Door::Open)), (0b101, true, false));
        assert_eq!(
            (StateSet::from(Door::Open), StateSet::<Door>::ALL.contains(Door::Open)),
            (StateSet::none().with(Door::Open), true)
        );
        let mut both = StateSet::from(Door::Shut) | [Door::Locked, Door::Shut];
        assert_eq!(both, set);
        assert_ne!(both, StateSet::ALL);
        both |= StateSet::from(Door::Open);
        assert_eq!((both, both.bits()), (StateSet::ALL, 0b111), "all that there are");
    }
}
