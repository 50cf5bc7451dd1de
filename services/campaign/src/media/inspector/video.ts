import { EncodedPacketSink, FilePathSource, Input, type InputVideoTrack, MP4, WEBM } from 'mediabunny';
import { BadContent } from '../failure.ts';
import type { Probe } from '../probe.ts';
import { codecNames, colourOf, samplesOf } from './codecs.ts';
import { varies } from './frames.ts';
import { structureOf } from './structure.ts';
import type { MediaLimits } from './tasks.ts';

type Limits = MediaLimits['video'];

/** What the index of a video says. Decodes nothing. Throws `BadContent`; whatever else the demuxer throws means that it cannot be read. */
export async function probeVideo(path: string, mime: 'video/mp4' | 'video/webm', limits: Limits): Promise<Probe> {
  const { truncated, fastStart } = await structureOf(path, mime);
  if (truncated) throw new BadContent('truncated', 'The file ends before its last part does.');
  const input = new Input({ source: new FilePathSource(path), formats: [MP4, WEBM] });
  try {
    const track = await input.getPrimaryVideoTrack();
    if (!track) throw new BadContent('unreadable', 'There is no picture in the file.');
    const size = await sizeOf(track);
    requireSize(limits, size.width, size.height);
    requireSize(limits, await track.getCodedWidth(), await track.getCodedHeight());
    const time = await timeOf(track, limits);
    const audio = await input.getPrimaryAudioTrack();
    const audioCodec = audio && (await audio.getCodec());
    const codec = await codecOf(track);
    const space = await track.getColorSpace();
    return {
      mime,
      ...size,
      ...codec,
      ...time,
      audio: audio !== null,
      ...(audio && { audio_codec: audioCodec ?? 'unknown' }),
      ...samplesOf(codec.codec, codec.codec_string ?? ''),
      colour: colourOf(space),
      hdr: await track.hasHighDynamicRange(),
      ...(fastStart !== undefined && { fast_start: fastStart }),
    };
  } finally {
    input.dispose();
  }
}

async function sizeOf(track: InputVideoTrack) {
  const rotation = await track.getRotation();
  return {
    width: Math.round(await track.getDisplayWidth()),
    height: Math.round(await track.getDisplayHeight()),
    rotation,
  };
}

function requireSize({ longSide, shortSide }: Limits, width: number, height: number): void {
  if (!(width >= 1 && height >= 1)) throw new BadContent('unreadable', 'The picture has no size.');
  if (Math.max(width, height) > longSide || Math.min(width, height) > shortSide)
    throw new BadContent(
      'too_many_pixels',
      `It has ${width} x ${height} pixels, of ${longSide} x ${shortSide} at most.`,
    );
}

async function codecOf(track: InputVideoTrack): Promise<Pick<Probe, 'codec' | 'codec_string'>> {
  const codec = await track.getCodec();
  const internal = await track.getInternalCodecId();
  if (codec === null || internal === 'encv') {
    if (internal === 'encv') throw new BadContent('unreadable', 'The picture is encrypted.');
    return { codec: typeof internal === 'string' ? internal.trim().toLowerCase() : 'unknown' };
  }
  const codec_string = await track.getCodecParameterString();
  return { codec: codecNames[codec] ?? codec, ...(codec_string !== null && { codec_string }) };
}

/** From all packets' times, as indexes may lie about the whole. */
async function timeOf(track: InputVideoTrack, { durationMs, fps: mostFps }: Limits) {
  const mostPackets = (durationMs / 1_000) * mostFps + 1_000; // Some more than the limits allow, for indexes that lie.
  const starts: number[] = [];
  let end = 0;
  for await (const packet of new EncodedPacketSink(track).packets(undefined, undefined, { metadataOnly: true })) {
    starts.push(packet.timestamp);
    end = Math.max(end, packet.timestamp + packet.duration);
    if ((end - (starts[0] ?? 0)) * 1_000 > durationMs + 1)
      throw new BadContent('too_long', `It is longer than ${durationMs / 1_000} s.`);
    if (starts.length > mostPackets) throw new BadContent('too_many_frames', `It has more than ${mostPackets} frames.`);
  }
  if (starts.length === 0) throw new BadContent('unreadable', 'There is no picture in the file.');
  starts.sort((a, b) => a - b);
  const seconds = end - (starts[0] ?? 0);
  if (!(seconds > 0)) throw new BadContent('unreadable', 'The picture has no duration.');
  const fps = starts.length / seconds;
  if (fps > mostFps + 0.01)
    throw new BadContent('too_many_frames', `It has ${fps.toFixed(1)} frames a second, of ${mostFps} at most.`);
  const lasts = starts.map((start, at) => (starts[at + 1] ?? end) - start).filter((last) => last > 0);
  return {
    duration_ms: Math.round(seconds * 1_000),
    fps: Math.round(fps * 1_000) / 1_000,
    frames: starts.length,
    variable_frame_rate: varies(lasts),
  };
}
