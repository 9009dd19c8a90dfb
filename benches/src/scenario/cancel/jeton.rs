//! Our cancellation in the scenarios.

use jeton_core::cancel::{Canceled, Node, Registration, Source, Token, Tree};

use super::{Attaches, Callback, Calls, Cancel, Hierarchy, Registers, Waits};

/// A source where it stands, with room for one registration.
#[derive(Clone, Copy, Debug, Default)]
pub struct InPlace;

/// Nodes of a tree, each with room for `SLOTS` registrations.
#[derive(Clone, Copy, Debug)]
pub struct Arena<const NODES: usize, const SLOTS: usize = 1>(pub &'static Tree<NODES, SLOTS>);

/// A tree as a source for any number of callbacks: a root, and a node below it for each [`SLOTS`](Self::SLOTS) callbacks.
#[derive(Clone, Copy, Debug)]
pub struct Wide<const NODES: usize>(pub &'static Tree<NODES, 32>);

impl<const NODES: usize> Wide<NODES> {
    /// As many as a node may have.
    pub const SLOTS: u32 = 32;
}

/// Nodes of a tree as one source.
#[derive(Debug)]
pub struct Broad<const NODES: usize> {
    root: Node<'static, NODES, 32>,
    more: Vec<Node<'static, NODES, 32>>,
}

/// Attaches a callback that nobody will take back.
fn attach(token: Token<'_>, callback: Callback, calls: &'static Calls) -> bool {
    token.on_cancel(callback, calls).map(Registration::detach).is_ok()
}

impl Cancel for InPlace {
    type Source = Source<1>;
    type Token<'s> = Token<'s>;

    #[inline]
    fn source(self) -> Source<1> {
        Source::new()
    }

    #[inline]
    fn token(source: &Source<1>) -> Token<'_> {
        source.token()
    }

    #[inline]
    fn uncancelable() -> Token<'static> {
        Token::uncancelable()
    }

    #[inline]
    fn is_canceled(token: &Token<'_>) -> bool {
        token.is_canceled()
    }

    #[inline]
    fn cancel(source: &Source<1>) {
        source.cancel();
    }
}

impl Attaches for InPlace {
    fn attach(self, source: &mut Source<1>, callback: Callback, calls: &'static Calls) {
        assert!(attach(source.token(), callback, calls), "room for a callback");
    }
}

impl Registers for InPlace {
    type Registration<'s> = Registration<'s>;

    #[inline]
    fn register<'s>(token: &Self::Token<'s>, callback: Callback, calls: &'static Calls) -> Self::Registration<'s> {
        token.on_cancel(callback, calls).expect("room for a callback")
    }

    #[inline]
    fn deregister(registration: Registration<'_>) {
        registration.deregister();
    }
}

impl Waits for InPlace {
    type Wait<'s> = Canceled<'s>;

    #[inline]
    fn wait<'s>(token: &Self::Token<'s>) -> Self::Wait<'s> {
        token.canceled()
    }
}

impl<const NODES: usize, const SLOTS: usize> Cancel for Arena<NODES, SLOTS> {
    type Source = Node<'static, NODES, SLOTS>;
    type Token<'s> = Token<'s>;

    #[inline]
    fn source(self) -> Self::Source {
        self.0.root().expect("a free node")
    }

    #[inline]
    fn token(source: &Self::Source) -> Token<'_> {
        source.token()
    }

    #[inline]
    fn uncancelable() -> Token<'static> {
        Token::uncancelable()
    }

    #[inline]
    fn is_canceled(token: &Token<'_>) -> bool {
        token.is_canceled()
    }

    #[inline]
    fn cancel(source: &Self::Source) {
        source.cancel();
    }
}

impl<const NODES: usize, const SLOTS: usize> Attaches for Arena<NODES, SLOTS> {
    fn attach(self, source: &mut Self::Source, callback: Callback, calls: &'static Calls) {
        assert!(attach(source.token(), callback, calls), "room for a callback");
    }
}

impl<const NODES: usize, const SLOTS: usize> Hierarchy for Arena<NODES, SLOTS> {
    #[inline]
    fn child(parent: &Self::Source) -> Self::Source {
        parent.child().expect("a free node")
    }
}

impl<const NODES: usize, const SLOTS: usize> Waits for Arena<NODES, SLOTS> {
    type Wait<'s> = Canceled<'s>;

    #[inline]
    fn wait<'s>(token: &Self::Token<'s>) -> Self::Wait<'s> {
        token.canceled()
    }
}

impl<const NODES: usize> Cancel for Wide<NODES> {
    type Source = Broad<NODES>;
    type Token<'s> = Token<'s>;

    fn source(self) -> Broad<NODES> {
        Broad { root: self.0.root().expect("a free node"), more: Vec::with_capacity(NODES - 1) }
    }

    fn token(source: &Broad<NODES>) -> Token<'_> {
        source.root.token()
    }

    fn uncancelable() -> Token<'static> {
        Token::uncancelable()
    }

    fn is_canceled(token: &Token<'_>) -> bool {
        token.is_canceled()
    }

    #[inline]
    fn cancel(source: &Broad<NODES>) {
        source.root.cancel();
    }
}

impl<const NODES: usize> Attaches for Wide<NODES> {
    fn attach(self, source: &mut Broad<NODES>, callback: Callback, calls: &'static Calls) {
        let last = source.more.last().unwrap_or(&source.root);
        if !attach(last.token(), callback, calls) {
            let node = source.root.child().expect("a free node");
            assert!(attach(node.token(), callback, calls), "room for a callback");
            source.more.push(node);
        }
    }
}
