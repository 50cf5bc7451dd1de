/** An upstream of weather: it answers like Open-Meteo, with the same values for every hour. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { announce } from '../server.ts';

const server = createServer((request, response) => {
  const hour = new URL(request.url ?? '/', 'http://weather').searchParams.get('start_hour');
  const values = {
    temperature_2m: [7.4],
    precipitation: [0],
    wind_speed_10m: [3.1],
    cloud_cover: [88],
    weather_code: [3],
  };
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ hourly: { time: [hour], ...values } }));
});
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
