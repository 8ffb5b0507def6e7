"""One file turns a framework's object, or a plain function, into an agent."""
