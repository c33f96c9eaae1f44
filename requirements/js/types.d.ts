// Types shared by the modules of the page: state, server messages, elements.

type Game = import("../../awello/web/static/js/game.js").Game;
type GameNode = import("../../awello/web/static/js/game.js").GameNode;
type Club = import("../../awello/web/static/js/club.js").Club;
type ClubGame = import("../../awello/web/static/js/club-game.js").ClubGame;
type ClubTab = import("../../awello/web/static/js/club-tab.js").ClubTab;
type ClubTournaments = import("../../awello/web/static/js/club-tournaments.js").ClubTournaments;
type Editor = import("../../awello/web/static/js/editor.js").Editor;

type Family = "othello" | "awale";

// ---- state of the page
interface Mark { from: string; to: string | null; by: string }
interface State {
  game: Game;
  paused: boolean;
  suspended: boolean;
  thinking: boolean;
  replyReady: boolean;
  turnStart: number;
  editor: Editor | null;
  flipped: boolean;
  marks: Mark[];
  preview: { position: Position; moves: string[] } | null;
  tab: string;
  availablePlayers: Set<string>;
  club: Club | null;
  clubReady: Promise<void>;
}
/** A topic of a subscription: a part of the state, or something that changes outside it. */
type Topic = keyof State | "analysis" | "review" | "settings" | "archive" | "language";

/** An action without parameters. */
type Command = Exclude<keyof typeof import("../../awello/web/static/js/actions.js").actions, "setPlayer" | "setClock">;

type SettingName = keyof typeof import("../../awello/web/static/js/settings.js").settings;

interface Panel { update(): void }
interface PanelClass { new (box: HTMLElement, before?: any): Panel; topics: Topic[] }

interface GameSnapshot {
  link: string;
  key: string;
  times: { move: string; seconds: number | null; clocks: number[] | null }[];
  started: number | null;
  saved: SaveResult | null;
  playerNames: string[] | null;
}
interface RecentGame extends GameSnapshot { label: string; when: number }
interface SaveResult { moves: string; number?: number; error?: string; tags?: Record<string, string> }
interface ErrorInfo { code?: string; message?: string; params?: Record<string, unknown> }
// ---- server messages
interface Rules {
  name: string; family: Family; unit: string; max_score: number; start: string; inaccuracy: number;
  has_draw_offers: boolean; heuristics: string[]; opponents: string[];
}
interface Effect { flips: string[]; sown: string[]; captured: [pit: string, seeds: number][] }
interface OthelloPosition { size: number; cells: string }
interface AwalePosition { pits: number[]; captured: number[] }
type Board = OthelloPosition | AwalePosition;
type Opening = Record<string, string>;
interface Position {
  side: number;
  board: Board;
  moves: Record<string, Effect>;
  illegal_pits: Record<string, string>;
  counts: number[];
  over: boolean;
  score: number[] | null;
  winner: number | null;
  end_reason: string;
  opening: Opening | null;
  position?: string;
  provisional?: boolean;
}
interface MoveValue { move: string; value: number; exact: boolean }
interface Analysis {
  value: number; exact: boolean; depth: number; confidence: number; nodes: number; seconds: number;
  pv: string[]; moves: MoveValue[]; spent: number; solved?: boolean; views?: Promise<Position[]>;
}
interface MoveReview {
  ply: number; side: number; move: string; value: number; exact: boolean; loss: number; mark: string; best: string;
  pv: string[];
}
interface SideSummary { moves: number; accuracy: number; mean_loss: number; inaccuracies: number; mistakes: number; blunders: number }
interface Retry { node: GameNode; tried: string | null; loss: number | null }
interface Hint { value: number; exact: boolean; best: boolean; loss: number; badge: string }

interface MoveStatistics {
  move: string; games: number; wins: number; draws: number; losses: number; mean_margin: number | null; value: number | null; opening: Opening | null;
}

interface Exploration { games: number; value: number | null; moves: MoveStatistics[]; opening: Opening | null }
interface ArchivedGame {
  number: number; game: string; players: (string | null)[]; winner: number | null; loser: number | null; score: number[] | null;
  date: string; event: string; opening: Opening | null;
}
interface FileReport {
  name: string; format: string; games: number; new: number; duplicates: number; unfinished: number; error_count: number; errors: string[];
}

interface ContestGame {
  number: number; round: number; first: string; second: string; score: number[]; moves: string;
  forfeits: (string[] | null)[];
}
interface Standing {
  bot: string; games: number; points: number; mean_score: number; elo: number; elo_margin: number; mean_ms: number;
  rounds: Outcomes; forfeits: Record<string, number>; messages: Record<string, string>;
}
interface Outcomes { wins: number; draws: number; losses: number }
interface Contest {
  id: string; game: string; players: string[]; state: string; started: string; rounds_played: number; rounds_total: number;
  seconds_left: number | null; message?: string; standings: Standing[]; games: ContestGame[];
  pairings: ({ first: string; second: string } & Outcomes)[];
}

// ---- club messages
interface TimeControl { seconds: number; increment: number }
interface Terms { variant: string; control: TimeControl; rated: boolean }
interface Rating { rating: number; established: boolean }
interface PoolRating extends Rating, Outcomes { variant: string; speed: string }
interface ClubPlayerState extends Rating { name: string; bot: boolean; rating_after: number | null }
interface ClubState {
  game: number; variant: string; players: ClubPlayerState[]; moves: string[]; ply: number; mover: number; clocks: number[];
  draw_offer: number | null; over: boolean; reason: string; winner: number | null; seconds?: (number | null)[];
  first_move_seconds: number | null; tournament: number | null; unrated_reason: string | null; control: TimeControl; rated: boolean; receivedAt: number;
}
interface Offer extends Rating {
  number: number; from: string; variant: string; side: number | null; control: TimeControl; rated: boolean; bot: boolean;
}
interface SentOffer { name: string; variant: string }
interface LeaderboardRow extends Rating, Outcomes { name: string; bot: boolean }
interface PlayedGame extends TimeControl {
  number: number; variant: string; players: string[]; side: number; rating_change: number | null; started: number; over: boolean; reason: string;
  winner: number | null; score: number[] | null;
}
interface Profile {
  name: string; bot: boolean; owner: string | null; online: boolean; ratings: PoolRating[]; games_played: number; recent_games: PlayedGame[];
}
interface Token { id: number; label: string; created: number }
interface LobbyGame { game: number; variant: string; players: string[] }
interface Lobby { seeks: Offer[]; games: LobbyGame[]; online: string[]; online_count: number }
interface ChatMessage { by: string; text: string }
interface Pairing {
  round: number; board: number; first: string; second: string | null; game: number | null; points: number[] | null; forfeit: boolean;
}
interface TournamentRow { name: string; rank: number; bot: boolean; points: number; buchholz: number; sonneborn_berger: number; wins: number }
interface Tournament {
  tournament: number; name: string; state: string; variant: string; control: TimeControl; rated: boolean; system: string;
  rounds: number; round: number; starts: number; entrants: number; grace: number; pairings: Pairing[];
  pairing: Pairing | null; standings: TournamentRow[];
}

interface ClubView { element: HTMLElement; update?(): void }
interface ClubViews {
  game: ClubView;
  lobby: import("../../awello/web/static/js/club-lobby.js").ClubLobby;
  tournaments: ClubTournaments & ClubView;
  leaderboard: import("../../awello/web/static/js/club-leaderboard.js").ClubLeaderboard & ClubView;
  profile: import("../../awello/web/static/js/club-profile.js").ClubProfile & ClubView;
  bots: import("../../awello/web/static/js/club-bots.js").ClubBots & ClubView;
}

// ---- elements of the page
interface TreeNode {
  id: string; move: string; side: number; value: number | null; exact: boolean; loss: number | null; mark: string;
  best: string | null; seconds: number | null; children: TreeNode[];
}

interface Seed { x: number; y: number; size: number; angle: number }
interface HintNodes { group: Element; value: Element; badge: Element }
interface Point { ply: number; value: number | null; exact: boolean; loss: number | null; mark: string; side: number; name: string }

interface BoardConfig extends OthelloPosition, AwalePosition {
  side: number; moves: Record<string, Effect>; illegalPits: Record<string, string>; rotated: boolean; label: string; variant: string;
  sowingDelayMs: number; editing?: boolean; playable: boolean; animate: boolean; marks: Mark[]; last: string | null;
  hints: Record<string, Hint> | null; preview: (OthelloPosition & AwalePosition & { moves: string[] }) | null;
  flipped: string[]; sowing: (Effect & { from: string }) | null; before: number[]; capturedBefore: number[];
}
interface Hand { from: number | string; to: number | string; count: number }
interface SowingFrame extends AwalePosition { hand: Hand | null; highlighted: number | null; ticks: number }
interface StoreNodes { group: Element; owner: Element; seeds: Element; gain: Element; number: Element; count: number }
interface PitNodes { group: Element; seeds: Element; number: Element; hint: HintNodes; count: number }
interface Cell { name: string; node: HTMLElement; x: number }
interface CellLayout { name: string; left: number; size: number; span?: number }
interface RowLayout { top: number; size: number; label?: () => string; cells: CellLayout[] }
interface ClockConfig {
  name: string; player: string; seconds: number | null; used: number; running: boolean; startedAt: number; count: number;
  unit: string; thinking: boolean; side: number; family: Family; winner: boolean;
}
interface ContestManagerConfig { variant: string; players: string[]; api: typeof import("../../awello/web/static/js/server.js").api }
interface MoveListConfig { tree: TreeNode; current: string; family: Family }
interface SearchTreeConfig { request: { game: string; start: string | null; moves: string[] }; api: ContestManagerConfig["api"] }
interface TreePicture {
  svg: string; search: string; value: string; counts: { nodes: number; leaves: number; pruned: number };
  minimax_counts: [number, number] | null; pv: string[]; mover_view: boolean;
}
interface GraphConfig { points: Point[]; current: number; length: number; maxValue: number; sides: string[]; unit: string }

/** An element of the page; not every element has all these properties. */
type Control = HTMLElement & { value: string; disabled: boolean; checked: boolean; config: object };
/** A custom element: configuration in, events out. */
type Configured = HTMLElement & { config: any; refresh(): void; finishAnimation(): void };
interface HTMLElementTagNameMap {
  "move-list": HTMLElement & { config: MoveListConfig };
  "contest-manager": HTMLElement & { config: ContestManagerConfig };
  "search-tree": HTMLElement & { config: SearchTreeConfig };
}
type HandledEvent = Event & { target: any };
type Child = Node | string | number | null | undefined | false;
interface Properties { [handler: `on${string}`]: ((event: HandledEvent) => unknown) | undefined; [name: string]: any }
