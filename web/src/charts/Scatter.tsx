// A scatter plot of two metrics with one labelled point per policy.
import { useRef } from 'preact/hooks';
import { lineColor } from '../palette';
import { type Box, paddedRange, placeLabels, roundMarks, spotsOf } from './scatter';
import { useWidth } from './useWidth';

export interface ScatterPoint {
  run: number;
  name: string;
  x: number;
  y: number;
  /** Whether the point is filled. */
  front: boolean;
}

interface ScatterProps {
  /** Description for screen readers. */
  label: string;
  points: ScatterPoint[];
  xTitle: string;
  yTitle: string;
  xText: (x: number) => string;
  yText: (y: number) => string;
  /** Run marked by dashed lines. */
  reference: number;
}

const HEIGHT = 300;
const LEFT = 92;
const RIGHT = 18;
const TOP = 30;
const BOTTOM = 50;
const LINE = 17;
const CHAR = 8.4;
const RADIUS = 6;
const RING = 4;

function Axes({ width, x, y, props }: {
  width: number; x: (value: number) => number; y: (value: number) => number;
  props: ScatterProps & { xs: number[]; ys: number[] };
}) {
  const bottom = HEIGHT - BOTTOM;
  return (
    <>
      {props.xs.map((at) => (
        <g key={at}>
          <line class="grid" x1={x(at)} x2={x(at)} y1={TOP} y2={bottom + 5} />
          <text class="mark" x={x(at)} y={bottom + 19} text-anchor="middle">{props.xText(at)}</text>
        </g>
      ))}
      {props.ys.map((at) => (
        <g key={at}>
          <line class="grid" x1={LEFT} x2={width - RIGHT} y1={y(at)} y2={y(at)} />
          <text class="mark" x={LEFT - 8} y={y(at) + 4} text-anchor="end">{props.yText(at)}</text>
        </g>
      ))}
      <text class="axis-title" x={width - RIGHT} y={HEIGHT - 6} text-anchor="end">{props.xTitle} →</text>
      <text class="axis-title" x={LEFT} y={14}>↑ {props.yTitle}</text>
      <text class="corner" x={LEFT + 8} y={bottom - 9}>less energy, shorter JCT</text>
    </>
  );
}

/** Text anchor of a label: the side that faces its spot. */
function anchor(box: Box, spot: number) {
  if (box.x > spot) return { x: box.x, 'text-anchor': 'start' } as const;
  if (box.x + box.width < spot) return { x: box.x + box.width, 'text-anchor': 'end' } as const;
  return { x: box.x + box.width / 2, 'text-anchor': 'middle' } as const;
}

function Plot({ props, width }: { props: ScatterProps; width: number }) {
  const { points } = props;
  const [xMin, xMax] = paddedRange(points.map((point) => point.x));
  const [yMin, yMax] = paddedRange(points.map((point) => point.y));
  const room = { x: LEFT, y: TOP, width: width - LEFT - RIGHT, height: HEIGHT - TOP - BOTTOM };
  const x = (value: number) => room.x + (room.width * (value - xMin)) / (xMax - xMin);
  const y = (value: number) => room.y + room.height * (1 - (value - yMin) / (yMax - yMin));
  const at = points.map((point) => ({ x: x(point.x), y: y(point.y) }));
  const spots = spotsOf(at, RADIUS);
  const radius = (spot: { points: number[] }) => RADIUS + RING * (spot.points.length - 1);
  const labels = placeLabels(
    spots.map((spot) => ({ ...spot, radius: radius(spot) })),
    spots.map((spot) => ({
      width: CHAR * Math.max(...spot.points.map((i) => points[i]!.name.length)),
      height: LINE * spot.points.length,
    })),
    room,
  );
  const reference = points.find((point) => point.run === props.reference);
  const marks = {
    xs: roundMarks(xMin, xMax, Math.max(2, Math.floor(room.width / 90))),
    ys: roundMarks(yMin, yMax, 5),
  };
  return (
    <svg class="scatter" viewBox={`0 0 ${width} ${HEIGHT}`} width={width} height={HEIGHT} role="img"
      aria-label={props.label}>
      <Axes width={width} x={x} y={y} props={{ ...props, ...marks }} />
      {reference && (
        <path class="cross" d={`M${room.x} ${y(reference.y)}H${room.x + room.width}` +
          `M${x(reference.x)} ${room.y}V${room.y + room.height}`} />
      )}
      {spots.map((spot, s) => (
        <g key={spot.points.join()}>
          {/* Policies at the same place are concentric rings. */}
          {[...spot.points].reverse().map((i) => {
            const place = spot.points.indexOf(i);
            const color = `var(${lineColor(points[i]!.run)})`;
            return (
              <circle key={i} class="point" cx={spot.x} cy={spot.y} r={RADIUS + RING * place}
                stroke={color} fill={points[i]!.front && place === 0 ? color : 'var(--surface)'}>
                <title>{`${points[i]!.name}: ${props.xText(points[i]!.x)}, ${props.yText(points[i]!.y)}`}</title>
              </circle>
            );
          })}
          {spot.points.map((i, line) => (
            <text key={i} class="name" {...anchor(labels[s]!, spot.x)}
              y={labels[s]!.y + LINE * line + 12.5} fill={`var(${lineColor(points[i]!.run)})`}>
              {points[i]!.name}
            </text>
          ))}
        </g>
      ))}
    </svg>
  );
}

export function Scatter(props: ScatterProps) {
  const host = useRef<HTMLDivElement>(null);
  const width = useWidth(host);
  return (
    <div class="scatter-place" ref={host}>
      {width > 0 && props.points.length > 0 && <Plot props={props} width={width} />}
    </div>
  );
}
