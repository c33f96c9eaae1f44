"""The rules: Othello, Awalé, and the questions that every search asks of both."""
