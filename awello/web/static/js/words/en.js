export default {
  // names
  "app.name": "Awello",
  "game.othello": "Othello",
  "game.othello6": "Othello 6×6",
  "game.othello4": "Othello 4×4",
  "game.abapa": "Awalé",
  "game.tournament": "Awalé, tournament rules",
  "game.romein": "Awalé, Romein’s rules",
  "side.othello.0": "Black",
  "side.othello.1": "White",
  "side.awale.0": "South",
  "side.awale.1": "North",
};
