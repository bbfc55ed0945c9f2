/** Records the microphone in a format that the browser can make and our providers accept, and measures the level to show. */
import type { RefObject } from "react";
import { useEffect, useRef, useState } from "react";

/** Enough for speech, and two hours of it are within the limit for an upload. */
const bitsPerSecond = 24_000;
const types = ["audio/webm;codecs=opus", "audio/mp4;codecs=mp4a.40.2", "audio/mp4", "audio/webm", "audio/ogg;codecs=opus"];
/** The recorder delivers a piece this often, so that an interrupted recording loses only the last one. */
const pieceMs = 1_000;

export type RecorderFault = "denied" | "missing" | "unsupported" | "broken";
export type RecorderPhase = "idle" | "asking" | "recording" | "paused";

function faultOf(error: unknown): RecorderFault {
  const name = error instanceof DOMException ? error.name : "";
  if (name === "NotAllowedError" || name === "SecurityError") return "denied";
  if (name === "NotSupportedError") return "unsupported";
  return name === "NotFoundError" || name === "OverconstrainedError" ? "missing" : "broken";
}

function canRecord(): boolean {
  return typeof MediaRecorder !== "undefined" && navigator.mediaDevices?.getUserMedia !== undefined;
}

function stopTracks(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
}

/** One recording under way. */
class Take {
  readonly recorder: MediaRecorder;
  private readonly stream: MediaStream;
  private readonly pieces: Blob[] = [];
  private readonly context: AudioContext | undefined;
  private readonly analyser: AnalyserNode | undefined;
  private readonly samples = new Float32Array(1_024);
  private recordedMs = 0;
  private sinceMs: number | undefined = performance.now();

  constructor(stream: MediaStream, onBroken: () => void) {
    this.stream = stream;
    const type = types.find((each) => MediaRecorder.isTypeSupported(each));
    this.recorder = new MediaRecorder(stream, { audioBitsPerSecond: bitsPerSecond, ...(type !== undefined && { mimeType: type }) });
    this.recorder.ondataavailable = ({ data }) => void (data.size > 0 && this.pieces.push(data));
    this.recorder.onerror = onBroken;
    // The device was unplugged, or its permission was revoked.
    for (const track of stream.getAudioTracks()) track.onended = onBroken;
    this.recorder.start(pieceMs);
    try {
      this.context = new AudioContext();
      this.analyser = this.context.createAnalyser();
      this.analyser.fftSize = this.samples.length;
      this.context.createMediaStreamSource(stream).connect(this.analyser);
    } catch {
      // The level can't be measured, but recording works without it.
    }
  }

  get milliseconds(): number {
    return this.recordedMs + (this.sinceMs === undefined ? 0 : performance.now() - this.sinceMs);
  }

  /** 0–1, of the last instant. */
  get level(): number {
    if (!this.analyser || this.sinceMs === undefined) return 0;
    this.analyser.getFloatTimeDomainData(this.samples);
    const power = this.samples.reduce((sum, sample) => sum + sample * sample, 0) / this.samples.length;
    // Speech is between -50 and -10 decibels.
    return Math.min(1, Math.max(0, (10 * Math.log10(power + 1e-9) + 50) / 40));
  }

  pause(): void {
    this.recordedMs = this.milliseconds;
    this.sinceMs = undefined;
    this.recorder.pause();
  }

  resume(): void {
    this.sinceMs = performance.now();
    this.recorder.resume();
  }

  async finish(): Promise<Blob> {
    if (this.recorder.state !== "inactive") {
      const stopped = new Promise<void>((resolve) => {
        this.recorder.onstop = () => resolve();
      });
      this.recorder.stop();
      await stopped;
    }
    this.release();
    return new Blob(this.pieces, { type: this.recorder.mimeType });
  }

  /** The browser shows that the microphone is on until its tracks are stopped. */
  release(): void {
    for (const track of this.stream.getTracks()) {
      track.onended = null;
      track.stop();
    }
    void this.context?.close().catch(() => {});
  }
}

/** Begins to record. Throws if the browser does not let us, or can't. */
async function openMicrophone(onBroken: () => void): Promise<Take> {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: { echoCancellation: true, noiseSuppression: true } });
  try {
    return new Take(stream, onBroken);
  } catch (error) {
    stopTracks(stream);
    throw error;
  }
}

export interface Recorder {
  phase: RecorderPhase;
  milliseconds: number;
  /** Seconds until the recording reaches the limit and ends. */
  leftSeconds: number;
  level: number;
  fault: RecorderFault | null;
  start: () => void;
  pause: () => void;
  resume: () => void;
  /** Ends the recording and gives it to `onDone`. */
  finish: () => void;
  /** Ends the recording as the limit does: `onDone` gets it, with `isWished` false. */
  breakOff: () => void;
  /** Throws it away. */
  cancel: () => void;
}

/** Reports the recording's time and level with every frame, and ends it at the limit. */
function useShown(
  take: RefObject<Take | undefined>,
  isRunning: boolean,
  mostSeconds: number,
  onShown: (shown: Pick<Recorder, "milliseconds" | "level">) => void,
  onLimit: () => void,
): void {
  const latest = useRef({ mostSeconds, onShown, onLimit });
  latest.current = { mostSeconds, onShown, onLimit };
  useEffect(() => {
    if (!isRunning) return;
    let frame = requestAnimationFrame(function show() {
      const current = take.current;
      if (!current) return;
      latest.current.onShown({ milliseconds: current.milliseconds, level: current.level });
      if (current.milliseconds >= latest.current.mostSeconds * 1_000) latest.current.onLimit();
      else frame = requestAnimationFrame(show);
    });
    return () => cancelAnimationFrame(frame);
  }, [take, isRunning]);
}

/**
 * `onDone` also gets a recording that ended at the limit or because the microphone was lost; `isWished` is false then. `mostSeconds`: the
 * longest recording that the model accepts.
 */
export function useRecorder(mostSeconds: number, onDone: (recorded: Blob, isWished: boolean) => void): Recorder {
  const [state, setState] = useState<Pick<Recorder, "phase" | "fault">>({ phase: "idle", fault: null });
  const [shown, setShown] = useState({ milliseconds: 0, level: 0 });
  const take = useRef<Take | undefined>(undefined);
  const asked = useRef(0);
  const done = useRef(onDone);
  done.current = onDone;

  const end = (isWished: boolean) => {
    const ended = take.current;
    take.current = undefined;
    asked.current += 1;
    setState({ phase: "idle", fault: null });
    if (ended) void ended.finish().then((recorded) => done.current(recorded, isWished));
  };
  const finish = () => end(true);
  const breakOff = () => end(false);
  const cancel = () => {
    take.current?.release();
    take.current = undefined;
    asked.current += 1;
    setState({ phase: "idle", fault: null });
  };
  const start = () => {
    if (!canRecord()) return setState({ phase: "idle", fault: "unsupported" });
    asked.current += 1;
    const own = asked.current;
    setState({ phase: "asking", fault: null });
    setShown({ milliseconds: 0, level: 0 });
    openMicrophone(() => latest.current.breakOff()).then(
      (opened) => {
        // The person cancelled while the browser asked for permission.
        if (own !== asked.current) return opened.release();
        take.current = opened;
        setState({ phase: "recording", fault: null });
      },
      (error: unknown) => own === asked.current && setState({ phase: "idle", fault: faultOf(error) }),
    );
  };
  const latest = useRef({ breakOff, cancel });
  latest.current = { breakOff, cancel };
  useEffect(() => () => latest.current.cancel(), []);

  useShown(take, state.phase === "recording", mostSeconds, setShown, () => latest.current.breakOff());

  return {
    ...state,
    ...shown,
    leftSeconds: Math.max(0, mostSeconds - shown.milliseconds / 1_000),
    start,
    finish,
    breakOff,
    cancel,
    pause: () => {
      take.current?.pause();
      setState({ phase: "paused", fault: null });
    },
    resume: () => {
      take.current?.resume();
      setState({ phase: "recording", fault: null });
    },
  };
}

/** The name of what was recorded, with the ending of its kind. */
export function recordingName(recorded: Blob, title: string): string {
  const ending = recorded.type.includes("mp4") ? "m4a" : recorded.type.includes("ogg") ? "ogg" : "webm";
  // The slashes of a date and the colon of a time can't be in a file name.
  return `${title.replaceAll(/[/\\]/g, "-").replaceAll(":", ".")}.${ending}`;
}
